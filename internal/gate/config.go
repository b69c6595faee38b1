// Package gate says whether what was run is what was promised, and what of two sets of
// runs differs: what a CI wants to know.
//
// It reads the directories of runs that are done, and the file lockbench.yaml. It runs
// nothing, judges no history, and knows neither locks nor faults but by their names. Who
// calls it makes exit codes of what it finds.
package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

// Config is lockbench.yaml: what to run, and what must hold. Its zero value runs
// everything, and holds every lock to what it declares.
type Config struct {
	// Run is what to run, by the names of the flags of lockbench matrix. A list stands for
	// its items with commas between them.
	Run map[string]any `yaml:"run"`
	// Promises count instead of what the locks declare. The first that matches counts.
	Promises []Promise `yaml:"promises"`
	// Require is what a cell must be at worst of which nothing is declared: SAFE, CHECK or
	// FENCE. "" requires nothing.
	Require lb.Outcome `yaml:"require"`
	// Explore is what to explore, and what must come out of all orders.
	Explore []Exploration `yaml:"explore"`
	// Limits are what a benchmark must hold.
	Limits []Entry `yaml:"limits"`
	// Before is a benchmark of before, which limits can be shares of: a directory or a file,
	// seen from the directory of this one.
	Before string `yaml:"before"`

	file string
	tree *ast.File
}

// Promise is what must come out for the algorithms and faults that its patterns match.
type Promise struct {
	Algorithm string `yaml:"algorithm"` // a pattern, "" for any
	Fault     string `yaml:"fault"`
	// Require is the worst that may come out, Outcomes all that may: without SAFE among
	// them, a known break must be seen again. One of the two is given.
	Require  lb.Outcome   `yaml:"require"`
	Outcomes []lb.Outcome `yaml:"outcomes"`
	// Reason is the mechanism that a conviction must name, "" for any.
	Reason string `yaml:"reason"`
	Why    string `yaml:"why"`
	Source string `yaml:"source"`
}

// promised are what may be promised, the best first.
var promised = lb.Outcomes()

// Load reads the file. What is wrong with it is a [history.LineError].
func Load(file string) (Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	return Parse(file, text)
}

// Parse is [Load] of a file's text.
func Parse(file string, text []byte) (c Config, err error) {
	dec := yaml.NewDecoder(strings.NewReader(string(text)), yaml.Strict())
	err = dec.Decode(&c)
	c.file = file
	var at yaml.Error
	switch {
	case errors.Is(err, io.EOF):
		return c, &history.LineError{File: file, Line: 1, Err: errors.New("the file says nothing: it has the keys run, promises, require, explore, limits and before")}
	case errors.As(err, &at):
		return c, &history.LineError{File: file, Line: at.GetToken().Position.Line, Err: errors.New(at.GetMessage())}
	case err != nil:
		return c, &history.LineError{File: file, Line: 1, Err: err}
	}
	if c.tree, err = parser.ParseBytes(text, 0); err != nil {
		return c, &history.LineError{File: file, Line: 1, Err: err}
	}
	if len(c.tree.Docs) > 1 {
		return c, &history.LineError{File: file, Line: c.tree.Docs[1].Start.Position.Line, Err: errors.New("a second document: one file is one gate")}
	}
	return c, c.check()
}

// At makes err one of the line where the value at the path stands, such as
// $.promises[0].fault.
func (c Config) At(where string, err error) error {
	line := 1
	if p, bad := yaml.PathString(where); bad == nil && c.tree != nil {
		if node, bad := p.FilterFile(c.tree); bad == nil && node != nil {
			line = node.GetToken().Position.Line
		}
	}
	return &history.LineError{File: c.file, Line: line, Err: fmt.Errorf("%s: %w", strings.TrimPrefix(where, "$."), err)}
}

func (c Config) check() error {
	if c.Require != "" && len(lb.UpTo(c.Require)) == 0 {
		return c.At("$.require", notOneOf(c.Require, lb.Cares()))
	}
	for i, p := range c.Promises {
		if key, err := p.check(); err != nil {
			return c.At(strings.TrimSuffix(fmt.Sprintf("$.promises[%d].%s", i, key), "."), err)
		}
	}
	for i, x := range c.Explore {
		if key, err := x.check(); err != nil {
			return c.At(strings.TrimSuffix(fmt.Sprintf("$.explore[%d].%s", i, key), "."), err)
		}
		for _, before := range c.Explore[:i] {
			if both := before.both(x); both != "" {
				return c.At(fmt.Sprintf("$.explore[%d]", i), fmt.Errorf("%s is named by an entry before: a gate has one exploration of a lock", both))
			}
		}
	}
	for i := range c.Limits {
		l := &c.Limits[i]
		if err := badPattern(l.Algorithm); err != nil {
			return c.At(fmt.Sprintf("$.limits[%d].algorithm", i), err)
		}
		var err error
		if l.limit, err = ParseLimit(l.Text); err != nil {
			return c.At(fmt.Sprintf("$.limits[%d]", i), err)
		}
		if l.limit.To == Before && c.Before == "" {
			return c.At(fmt.Sprintf("$.limits[%d]", i), errors.New("which benchmark was before is to be said: before: FILE"))
		}
	}
	return nil
}

// Earlier reads the benchmark of before, nil where the file names none.
func (c Config) Earlier() (*cost.Bench, error) {
	if c.Before == "" {
		return nil, nil
	}
	name := c.Before
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(c.file), name)
	}
	saved, err := rundir.OpenSaved(name)
	if err == nil && saved.Bench == nil {
		err = fmt.Errorf("%s holds no benchmark", name)
	}
	if err != nil {
		return nil, c.At("$.before", err)
	}
	return saved.Bench, nil
}

// check says what is wrong, and at which key.
func (p Promise) check() (key string, err error) {
	if err := badPattern(p.Algorithm); err != nil {
		return "algorithm", err
	}
	if err := badPattern(p.Fault); err != nil {
		return "fault", err
	}
	if (p.Require == "") == (len(p.Outcomes) == 0) {
		return "", errors.New("either require (the worst that may come out) or outcomes (all that may)")
	}
	if p.Require != "" && len(lb.UpTo(p.Require)) == 0 {
		return "require", notOneOf(p.Require, lb.Cares())
	}
	for i, o := range p.Outcomes {
		if !slices.Contains(promised, o) {
			return fmt.Sprintf("outcomes[%d]", i), notOneOf(o, promised)
		}
	}
	if p.Reason != "" {
		if all := lb.Mechanisms(); !slices.Contains(all, p.Reason) {
			return "reason", notOneOf(p.Reason, all)
		}
		if p.Require != "" || slices.Contains(p.Outcomes, lb.Safe) {
			return "reason", errors.New("what is SAFE has no mechanism: name the outcomes that have one")
		}
	}
	return "", nil
}

func badPattern(glob string) error {
	if _, err := path.Match(glob, ""); err != nil {
		return fmt.Errorf("bad pattern %q: %w", glob, err)
	}
	return nil
}

func notOneOf[T ~string](got T, want []T) error {
	var names []string
	for _, w := range want {
		names = append(names, string(w))
	}
	return fmt.Errorf("%q is none of %s", got, strings.Join(names, ", "))
}

// Expect is what must come out for an algorithm under a fault, of which the lock itself
// declares so much; nil for nothing. n is the promise of the file that counts, or -1.
func (c Config) Expect(algorithm, fault string, declared *lb.Expectation) (e *lb.Expectation, n int) {
	for i, p := range c.Promises {
		if matches(p.Algorithm, algorithm) && matches(p.Fault, fault) {
			return p.expectation(fault), i
		}
	}
	if declared == nil && c.Require != "" {
		return lb.Required(fault, c.Require), -1
	}
	return declared, -1
}

func matches(glob, name string) bool {
	ok, _ := path.Match(glob, name) // the pattern was looked at
	return ok || glob == ""
}

func (p Promise) expectation(fault string) *lb.Expectation {
	e := &lb.Expectation{Fault: fault, Outcomes: p.Outcomes, Reason: p.Reason, Why: p.Why, Source: p.Source}
	if p.Require != "" {
		e.Outcomes = lb.UpTo(p.Require)
	}
	return e
}
