package lab_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/lab"
)

// TestAbsent: only servers that are an install of their own are missed by their own locks only, each lab in its own words.
func TestAbsent(t *testing.T) {
	own := lab.Kind{Name: "things", Needs: []string{"/nowhere/things-*/thing"}, Make: "things"}
	usual, withImage := own, own
	usual.Make, withImage.Image = "", "thing:1"
	images := lab.Driver{Name: "boxes", Claims: []lab.Ability{lab.OwnImages}, Lacks: map[lab.Ability]string{lab.OwnServers: "it has boxes"}}
	err := lab.Local().Absent(own)
	if !errors.Is(err, lab.ErrMissing) || !strings.Contains(err.Error(), "make things") || strings.Contains(err.Error(), "*") {
		t.Errorf("of this machine: %v", err)
	}
	if err := images.Absent(own); err == nil || !strings.Contains(err.Error(), "it has boxes") {
		t.Errorf("of no image: %v", err)
	}
	for what, err := range map[string]error{"what everybody has": lab.Local().Absent(usual), "of an image": images.Absent(withImage)} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestServes: servers behind one address are those of a lab that can move one.
func TestServes(t *testing.T) {
	still := lab.Driver{Name: "still", Lacks: map[lab.Ability]string{lab.MovingAddress: "its hosts stay where they are"}}
	for _, servers := range []lab.Topology{{Name: "none"}, {Name: "three", Servers: 3}} {
		if err := still.Serves(servers); err != nil {
			t.Errorf("%s: %v", servers.Name, err)
		}
	}
	pair := lab.Topology{Name: "pair", Servers: 2, Virtual: true}
	if err := still.Serves(pair); err == nil || !strings.Contains(err.Error(), "its hosts stay where they are") {
		t.Errorf("a pair behind one address: %v", err)
	}
	if err := lab.Local().Serves(pair); err != nil {
		t.Errorf("the local lab: %v", err)
	}
}
