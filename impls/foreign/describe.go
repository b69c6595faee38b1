package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
)

// Version of the protocol.
const Version = 1

// Description is what a program says of itself.
type Description struct {
	Protocol   int      `json:"protocol"`
	Name       string   `json:"name"`
	Doc        string   `json:"doc,omitempty"`
	Source     string   `json:"source,omitempty"`
	Topologies []string `json:"topologies"`
	Requests   []string `json:"requests"`
	Takes      string   `json:"takes"`
	NoTry      bool     `json:"no_try,omitempty"`
	Scripts    bool     `json:"scripts,omitempty"`
	Tables     bool     `json:"tables,omitempty"`
	InMemory   bool     `json:"in_memory,omitempty"`
	// Validates: its users ask it, before they write, whether they still hold the lock.
	Validates bool      `json:"validates,omitempty"`
	Traits    lb.Traits `json:"traits"`
	// Versions of the libraries that it is made of, by name.
	Versions map[string]string `json:"versions,omitempty"`
	// RoundTrips of an uncontended acquire and release.
	RoundTrips *RoundTrips `json:"round_trips,omitempty"`
	// Deviates are checks of the conformance suite that it fails, and Rare requests that no
	// check brings about for certain, each with the reason.
	Deviates map[string]string `json:"deviates,omitempty"`
	Rare     map[string]string `json:"rare,omitempty"`
}

// RoundTrips counts requests.
type RoundTrips struct {
	Acquire int `json:"acquire"`
	Release int `json:"release"`
}

// info is the description as that of an algorithm.
func (d Description) info() lb.Info {
	info := lb.Info{Name: d.Name, Doc: d.Doc, Source: d.Source, Topologies: d.Topologies, Requests: d.Requests, Takes: d.Takes,
		NoTry: d.NoTry, Scripts: d.Scripts, Tables: d.Tables, InMemory: d.InMemory, Traits: d.Traits, Program: true}
	if info.Doc == "" {
		info.Doc = "a program that says no more of itself"
	}
	if info.Source == "" {
		info.Source = strings.Join(slices.Sorted(maps.Keys(d.Versions)), ", ")
	}
	return info
}

var (
	aRequest = regexp.MustCompile(`^[a-z0-9][a-z0-9 ._-]*$`)
	aName    = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
)

// isA reports whether a name has this form, and at most 64 letters. An expression that counted them would be large, and
// is made by every process of lockbench.
func isA(form *regexp.Regexp, name string) bool { return len(name) <= 64 && form.MatchString(name) }

// Parse reads a description, and says what is wrong with it.
func Parse(text []byte) (d Description, err error) {
	if err := json.Unmarshal(text, &d); err != nil {
		return d, err
	}
	if d.Protocol != Version {
		return d, fmt.Errorf("its protocol is %d, and this lockbench speaks %d", d.Protocol, Version)
	}
	return d, d.check()
}

// ParseFile reads the description of a program of this version's, which need not say so.
func ParseFile(text []byte) (d Description, err error) {
	if err := json.Unmarshal(text, &d); err != nil {
		return d, err
	}
	d.Protocol = Version
	return d, d.check()
}

func (d Description) check() error {
	switch {
	case !isA(aName, d.Name):
		return fmt.Errorf("its name is %q: small letters, digits, and - . _ between them", d.Name)
	case len(d.Topologies) == 0:
		return errors.New("it names no topologies: where does it run? (lockbench list topologies)")
	case len(d.Requests) == 0:
		return errors.New("it names no requests: what does it send to the servers?")
	case slices.ContainsFunc(d.Requests, func(name string) bool { return !isA(aRequest, name) }):
		return fmt.Errorf("its requests are %q: small letters, digits and dashes each", d.Requests)
	case d.RoundTrips != nil && (d.RoundTrips.Acquire < 1 || d.RoundTrips.Release < 1):
		return errors.New("its round_trips are less than one")
	case !(d.Traits.Fails >= 0 && d.Traits.Fails < 1): // NaN is neither
		return fmt.Errorf("its traits say that %v of its acquires may fail: a share, from 0 to less than 1", d.Traits.Fails)
	case d.Traits.Check() != nil:
		return fmt.Errorf("its traits: %w", d.Traits.Check())
	case !slices.Contains(d.Requests, d.Takes):
		return fmt.Errorf("takes is %q, which is not among its requests: %s", d.Takes, strings.Join(d.Requests, ", "))
	}
	return nil
}

// Describe starts the program, and asks it what it is. text is its whole answer.
func Describe(ctx context.Context, c Command) (d Description, text []byte, err error) {
	p, err := newProcess(c, io.Discard, func(message) {})
	if err != nil {
		return d, nil, err
	}
	defer p.close()
	m, err := p.askWithin(ctx, startBound, message{Do: doDescribe})
	if err != nil {
		return d, nil, err
	}
	if d, err = Parse(m.whole); err != nil {
		return d, nil, p.finding("described itself in a way that does not do: %s", err)
	}
	return d, bytes.TrimSpace(m.whole), nil
}
