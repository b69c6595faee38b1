package main

import (
	"strings"
	"testing"
)

// TestListIsInStep: each old text of the list is in its file, once. Whoever changes a
// line that decides something is told here, not when the mutants are run at last.
func TestListIsInStep(t *testing.T) {
	mutants, err := readList("mutants.txt", "../../..")
	if err != nil {
		t.Error(err)
	}
	if len(mutants) < 60 {
		t.Errorf("only %d mutants", len(mutants))
	}
}

func TestParseList(t *testing.T) {
	got, err := parseList("# a comment\n\n== a/b.go\n\none\n- x\n- \ty\n+ z\n= for a\n= reason\n\ntwo\n- x\n\n== c.go\none\n- 1\n+ 2\n")
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if m := got[0]; m.file != "a/b.go" || m.name != "one" || strings.Join(m.old, "|") != "x|\ty" || m.equivalent != "for a reason" {
		t.Errorf("%+v", m)
	}
	for _, bad := range []string{"one\n- x\n+ y", "== a\n- x", "== a\none\ntwo\n- x\n+ y", "== a\none\n- x\n+ x", "== a\none\n- x\n+ y\n\none\n- x\n+ z", "== a\none\n"} {
		if got, err := parseList(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, got)
		}
	}
}
