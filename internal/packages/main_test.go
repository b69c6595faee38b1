package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// list is what go list says of a small program, in its order: each package after all
// that it imports.
const list = `fmt|Package fmt prints.|errors
github.com/lockbench/lockbench|Package lockbench is the vocabulary of <locks>.|fmt
github.com/lockbench/lockbench/internal/clock|Package clock is time.|github.com/lockbench/lockbench
github.com/lockbench/lockbench/impls/internal/compose|Package compose is shared.|github.com/lockbench/lockbench
github.com/lockbench/lockbench/impls/redis|Package redis holds locks.|github.com/lockbench/lockbench/impls/internal/compose fmt
github.com/lockbench/lockbench/impls|Package impls lists them.|github.com/lockbench/lockbench/impls/redis
github.com/lockbench/lockbench/lab/external|Package external borrows.|github.com/lockbench/lockbench/internal/clock
github.com/lockbench/lockbench/lab|Package lab has hosts.|github.com/lockbench/lockbench/internal/clock
github.com/lockbench/lockbench/cmd/lockbench|Command lockbench is all there is, and much more than anybody would want to read in a line of such a picture as this is.|github.com/lockbench/lockbench github.com/lockbench/lockbench/impls github.com/lockbench/lockbench/lab
`

func TestPartOf(t *testing.T) {
	for path, want := range map[string]string{
		"fmt": "", "github.com/redis/go-redis/v9": "",
		module: "lockbench", module + "/impls": "impls", module + "/impls/internal/compose": "impls",
		module + "/internal/run": "internal/run", module + "/internal/run/deeper": "internal/run", module + "/cmd/lockbench": "cmd/lockbench",
	} {
		if got := partOf(path); got != want {
			t.Errorf("%s is part of %q, want %q", path, got, want)
		}
	}
}

// TestRead: packages below another are one with it, whose words they do not take, and
// each part stands above all that it imports.
func TestRead(t *testing.T) {
	all := read(list)
	for name, want := range map[string]struct {
		layer   int
		doc     string
		imports int
	}{
		"lockbench":      {0, "Package lockbench is the vocabulary of <locks>.", 0},
		"internal/clock": {1, "Package clock is time.", 1},
		"impls":          {1, "Package impls lists them.", 1},
		"lab":            {2, "Package lab has hosts.", 1},
		"cmd/lockbench":  {3, "", 3},
	} {
		p := all[name]
		if p == nil || p.layer != want.layer || len(p.imports) != want.imports || want.doc != "" && p.doc != want.doc {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if len(all) != 5 {
		t.Errorf("%d parts", len(all))
	}
}

// TestDraw: a line for each part, the highest first, and an arc for each import that no
// path of others says; what it says is text, not markup.
func TestDraw(t *testing.T) {
	svg := draw(read(list))
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	at := 0
	for _, name := range []string{"cmd/lockbench", "lab", "impls", "internal/clock", "lockbench"} {
		i := strings.Index(svg, ">"+name+"</text>")
		if i < at {
			t.Errorf("%s stands at %d, after %d", name, i, at)
		}
		at = i
	}
	// lockbench itself is reached through impls and lab: cmd has two arcs, the others one.
	if n := strings.Count(svg, "<g style"); n != 5 {
		t.Errorf("%d arcs", n)
	}
	if n := strings.Count(svg, `class="layer"`); n != 4-1 {
		t.Errorf("%d lines between four layers", n)
	}
	if !strings.Contains(svg, ">is the vocabulary of &lt;locks&gt;.<") {
		t.Error("the words of lockbench are missing, or are markup")
	}
	if !strings.Contains(svg, ">is all there is, and much") || !strings.Contains(svg, "…<") || strings.Contains(svg, "as this is.") {
		t.Error("a long line is not cut")
	}
}
