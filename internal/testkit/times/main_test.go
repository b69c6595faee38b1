package main

import (
	"strings"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/testkit"
)

// TestRead tells times by package and by test, slowest first, and repeats what failed.
func TestRead(t *testing.T) {
	const p = `"Package":"github.com/lockbench/lockbench/a"`
	in := `{"Action":"output",` + p + `,"Test":"TestX","Output":"it is wrong\n"}
{"Action":"fail",` + p + `,"Test":"TestX","Elapsed":2.5}
{"Action":"output",` + p + `,"Test":"TestY","Output":"all is well\n"}
{"Action":"output",` + p + `,"Test":"TestY","Output":"    share.go:1: ` + testkit.Waited + `3.0 s for 1 of 4 places\n"}
{"Action":"pass",` + p + `,"Test":"TestY","Elapsed":7}
no JSON
{"Action":"fail",` + p + `,"Elapsed":9.5}
`
	var out strings.Builder
	all, err := read(strings.NewReader(in), &out)
	if err != nil || out.String() != "it is wrong\nno JSON\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	all.print(&out, map[string]float64{"github.com/lockbench/lockbench/a": 3}, 10*time.Second)
	told := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"9.5 3.0 a 9.5 3.0 all, in 10s", "4.0 3.0 a TestY 2.5 0.0 a TestX"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
