package lab

import "testing"

// TestSpeaks: of every topology with servers it is said what they speak. One that is forgotten would be taken for
// one that nobody can read.
func TestSpeaks(t *testing.T) {
	kinds := []Kind{sentinel}
	for _, top := range Topologies() {
		if top.Servers > 0 {
			kinds = append(kinds, top.Kind)
		}
	}
	for _, k := range kinds {
		if k.Speaks.Name == "" || k.Speaks.Begin == nil {
			t.Errorf("what does a server of %s speak?", k.Name)
		}
	}
}
