package backends_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/lab"
)

// TestSpeaks: of every topology with servers it is said what they speak. One that is forgotten would be taken for
// one that nobody can read.
func TestSpeaks(t *testing.T) {
	var kinds []lab.Kind
	for _, top := range backends.Topologies() {
		if top.Servers > 0 {
			kinds = append(kinds, top.Kind)
		}
		if top.Sentinels > 0 {
			kinds = append(kinds, top.Watchers)
		}
	}
	for _, k := range kinds {
		if k.Speaks.Name == "" || k.Speaks.Begin == nil {
			t.Errorf("what does a server of %s speak?", k.Name)
		}
	}
}
