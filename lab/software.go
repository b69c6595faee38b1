package lab

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
)

// Software is what the servers of a kind are made of, as far as a user can change it.
type Software struct {
	// Name is how the user calls it: "redis".
	Name string
	// Option gives the server an option by the name that its own documentation has.
	Option func(p Program, name, value string) Program
	// Binary takes the server from a file of the user's.
	Binary func(p Program, path string) Program
	// Builtin is the Go module of the one that lockbench contains, "" for none. One of the
	// user's lacks what that can do.
	Builtin string
	// Unfit are the characters that the value of an option can't have, because what starts the
	// server takes them for something else.
	Unfit string
	// Runs is the program that runs what a user calls the binary, where that is none itself:
	// Java, for a class path.
	Runs string
	// Asks is the command that tells the version of what Runs runs.
	Asks func(path string) []string
}

// Own is how a user wants servers to be.
type Own struct {
	// Options are NAME=VALUE, by the names that the server's documentation has.
	Options []string
	// Binary is SOFTWARE=PATH, "" for the one that is installed, or built in.
	Binary string
	// Image is SOFTWARE=NAME, "" for the one that a lab of containers has.
	Image string
}

// For is what of it concerns the servers of a topology.
func (o Own) For(t Topology) Own {
	if !strings.HasPrefix(o.Binary, t.Kind.Software.Name+"=") {
		o.Binary = ""
	}
	if !strings.HasPrefix(o.Image, t.Kind.Software.Name+"=") {
		o.Image = ""
	}
	return o
}

// Check says what is wrong with it if these topologies are all there are, or nil.
func (o Own) Check(all []Topology) error {
	var known []string
	for _, t := range all {
		if name := t.Kind.Software.Name; name != "" && !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for _, given := range []struct{ what, text, form string }{{binaryOf, o.Binary, "PATH"}, {imageOf, o.Image, "NAME"}} {
		name, _, err := ofSoftware(given.what, given.text, given.form)
		if err == nil && given.text != "" && !slices.Contains(known, name) {
			err = fmt.Errorf("%s %q: the software is %s", given.what, given.text, english.Or(known))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// What a user says of which software, in messages.
const (
	binaryOf = "server binary"
	imageOf  = "image"
)

// With is the topology with servers as a user wants them. A binary or an image of other
// software than the topology's is none of its business.
func (t Topology) With(o Own) (Topology, error) {
	sw, kind := t.Kind.Software, t.Kind
	if len(o.Options) > 0 && sw.Option == nil {
		return t, fmt.Errorf("the servers of %s take no options", t.Name)
	}
	var names, values []string
	for _, option := range o.Options {
		name, value, ok := strings.Cut(option, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t\n") || strings.Contains(value, "\n") {
			return t, fmt.Errorf("server option %q is not NAME=VALUE", option)
		}
		if strings.ContainsAny(value, sw.Unfit) {
			return t, fmt.Errorf("server option %q: a space or a pattern can't be passed to %s", option, sw.Name)
		}
		names, values = append(names, name), append(values, value)
	}
	path, err := o.binary(sw.Name)
	if err != nil {
		return t, err
	}
	image, err := o.image(sw.Name)
	if err != nil {
		return t, err
	}
	if image != "" {
		t.Kind.Image = image
	}
	if len(names) == 0 && path == "" {
		return t, nil
	}
	t.Kind.Program = func(self Host, all []Host) Program {
		p := kind.Program(self, all)
		for i := range names {
			p = sw.Option(p, names[i], values[i])
		}
		if path != "" {
			p = sw.Binary(p, path)
		}
		return p
	}
	if path != "" {
		if watchers := t.Watchers.Program; watchers != nil { // of the same software
			t.Watchers.Program = func(self Host, all []Host) Program { return sw.Binary(watchers(self, all), path) }
			t.Watchers.Needs, t.Watchers.Install = []string{path}, ""
		}
		t.Kind.Version, t.Kind.Needs = Version{Of: path}, []string{path}
		t.Kind.Install, t.Kind.Make = "", ""
		if sw.Runs != "" {
			t.Kind.Needs = []string{sw.Runs}
			t.Kind.Version = Version{Of: kind.Version.Of, Command: sw.Asks(path)}
		} else if len(kind.Version.Command) > 0 {
			t.Kind.Version = Version{Of: kind.Version.Of, Command: append([]string{path}, kind.Version.Command[1:]...)}
		}
		if sw.Builtin != "" {
			t.Kind.Clock = nil // only the one that is built in follows a clock of its own
			t.Kind.Software.Builtin = ""
		}
	}
	return t, nil
}

// binary is the path for the software, "" if it is for another.
func (o Own) binary(software string) (string, error) {
	of, path, err := ofSoftware(binaryOf, o.Binary, "PATH")
	if err == nil && path != "" && !filepath.IsAbs(path) {
		err = errors.New("the path of a server's binary is absolute: " + path + " is not")
	}
	if err != nil || of != software {
		return "", err
	}
	return path, nil
}

// image is the name of the image for the software, "" if it is for another.
func (o Own) image(software string) (string, error) {
	of, name, err := ofSoftware(imageOf, o.Image, "NAME")
	if err == nil && strings.Contains(name, "=") {
		err = fmt.Errorf("image %q: no image has such a name", name)
	}
	if err != nil || of != software || name == "" {
		return "", err
	}
	// As everywhere.
	if !strings.ContainsAny(name[strings.LastIndex(name, "/")+1:], ":@") {
		name += ":latest"
	}
	return name, nil
}

// ofSoftware takes SOFTWARE=VALUE apart, or "".
func ofSoftware(what, text, form string) (name, value string, err error) {
	if text == "" {
		return "", "", nil
	}
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" || value == "" {
		err = fmt.Errorf("%s %q is not SOFTWARE=%s", what, text, form)
	}
	return name, value, err
}
