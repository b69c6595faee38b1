package reports

import (
	"testing"

	"github.com/lockbench/lockbench/history"
)

// TestLoadKnown: where no system has told the load, as on others than Linux, none is shown; a machine that did nothing had one.
func TestLoadKnown(t *testing.T) {
	for _, tt := range []struct {
		machine history.Machine
		want    string
	}{
		{history.Machine{System: "darwin/arm64", Cores: 8}, ""},
		{history.Machine{System: "linux/amd64", Cores: 2, Kernel: "6.1"}, "0.0"},
		{history.Machine{System: "linux/amd64", Cores: 2, Load: .5}, "0.5"},
	} {
		var f planFacts
		f.machine(&tt.machine)
		got := ""
		for _, fact := range f.facts() {
			if fact.Name == "Load before a run" {
				got = fact.Value
			}
		}
		if got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.machine, got, tt.want)
		}
	}
}
