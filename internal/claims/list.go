package main

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed list/*.yaml bugs/*.yaml
var lists embed.FS

// document is one of the surveys, with what it states.
type document struct {
	Number string  `yaml:"document"`
	Title  string  `yaml:"title"`
	Claims []claim `yaml:"claims"`
}

// claim is one statement.
type claim struct {
	ID    string `yaml:"id"`
	Place string `yaml:"place"`
	Says  string `yaml:"says"`
	// Run is the command that tries it, as what follows lockbench. What a document's own listing
	// shows, and no server has a part in, has none: Reading is the verdict, and Because what it shows.
	Run     string  `yaml:"run"`
	Reading verdict `yaml:"reading"`
	Because string  `yaml:"because"`
	// Missing is what lockbench would need to try it, where there is no command for that.
	Missing string `yaml:"missing"`
	// Confirmed, Refuted and Depends are what must hold, all of one list, for that verdict.
	Confirmed []condition `yaml:"confirmed"`
	Refuted   []condition `yaml:"refuted"`
	Depends   []condition `yaml:"depends"`
	// Otherwise is the verdict where none of them holds though all can be told.
	Otherwise verdict `yaml:"otherwise"`
	// On is what it depends on; it is shown with that verdict only.
	On string `yaml:"on"`
	// Note says something of the command that holds whatever comes out.
	Note string `yaml:"note"`
}

// load reads all lists, in the order of their documents.
func (k book) load() ([]document, error) {
	files, err := lists.ReadDir(k.list)
	if err != nil {
		return nil, err
	}
	var docs []document
	for _, f := range files {
		text, err := lists.ReadFile(path.Join(k.list, f.Name()))
		if err != nil {
			return nil, err
		}
		var d document
		if err := yaml.UnmarshalWithOptions(text, &d, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		docs = append(docs, d)
	}
	return docs, check(docs)
}

// check refuses statements that nothing could decide, since they would read as undecided for ever.
func check(docs []document) error {
	seen := map[string]bool{}
	for _, d := range docs {
		for _, c := range d.Claims {
			if err := c.check(d.Number); err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
			if seen[c.ID] {
				return fmt.Errorf("%s: there are two of them", c.ID)
			}
			seen[c.ID] = true
		}
	}
	return nil
}

func (c claim) check(number string) error {
	branches := 0
	for _, list := range [][]condition{c.Confirmed, c.Refuted, c.Depends} {
		if len(list) > 0 {
			branches++
		}
		for _, one := range list {
			if err := one.check(); err != nil {
				return err
			}
		}
	}
	switch {
	case !strings.HasPrefix(c.ID, number+"-"):
		return fmt.Errorf("its name does not begin with %s-", number)
	case c.Place == "" || c.Says == "":
		return fmt.Errorf("it says nothing, or not where")
	case c.Missing != "" && (c.Run != "" || c.Reading != "" || branches > 0):
		return fmt.Errorf("what is missing can't be there")
	case c.Missing != "":
		return nil
	case (c.Run == "") == (c.Reading == ""):
		return fmt.Errorf("it needs a command, or to be read")
	case (c.Reading != "") != (c.Because != "") || c.Reading != "" && !slices.Contains(whole, c.Reading):
		return fmt.Errorf("who reads says what, and why")
	case c.Run == "" && branches > 0:
		return fmt.Errorf("without a command nothing can hold")
	case c.Run == "" && (c.Reading == depends) != (c.On != ""):
		return fmt.Errorf("it depends, and does not say on what, or says so and can't")
	case c.Run == "":
		return nil
	case branches == 0 || branches == 1 && c.Otherwise == "":
		return fmt.Errorf("only one verdict is possible")
	case c.Otherwise != "" && !slices.Contains(whole, c.Otherwise):
		return fmt.Errorf("otherwise: %q is no verdict", c.Otherwise)
	case (len(c.Depends) > 0 || c.Otherwise == depends) != (c.On != ""):
		return fmt.Errorf("it depends, and does not say on what, or says so and can't")
	}
	_, err := argv(c.Run)
	return err
}

// commands are all, each once, in the order in which statements need them.
func commands(docs []document) (list []string) {
	for _, d := range docs {
		for _, c := range d.Claims {
			if c.Run != "" && !slices.Contains(list, c.Run) {
				list = append(list, c.Run)
			}
		}
	}
	return list
}

// commandsOf are those of some statements.
func commandsOf(docs []document, ids []string) (list []string, err error) {
	for _, id := range ids {
		c := find(docs, strings.TrimSpace(id))
		switch {
		case c == nil:
			return nil, fmt.Errorf("there is no statement %q", id)
		case c.Run == "":
			return nil, fmt.Errorf("%s has no command: its listing is read", c.ID)
		case !slices.Contains(list, c.Run):
			list = append(list, c.Run)
		}
	}
	return list, nil
}

func find(docs []document, id string) *claim {
	for _, d := range docs {
		for i := range d.Claims {
			if d.Claims[i].ID == id {
				return &d.Claims[i]
			}
		}
	}
	return nil
}

// firstOf is the first statement that needs the command.
func firstOf(docs []document, command string) string {
	for _, d := range docs {
		for _, c := range d.Claims {
			if c.Run == command {
				return c.ID
			}
		}
	}
	return ""
}
