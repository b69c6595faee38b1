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
