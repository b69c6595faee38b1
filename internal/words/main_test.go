package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanted: each sentence is found at its line, in a page and in a string of the code, and not
// in comments, in tests, or where the words mean something else.
func TestPlanted(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"page.md":          "# A page\n\nDeclared, and so\nit was. There are 12 cells. There are 1,000 locks. There are 1 servers.\n\nFine. Who takes back what was given is barging.\nWho waits for whom?\n\nWho comes later waits.\n",
		"deeper/code.go":   "package code\n\n// Who writes comments may say anew.\nvar (\n\t_ = \"asked for by who is late\"\n\t_ = `two lines,\nand nobody gets on`\n\t_ = \"this, the shelf, theirs\"\n)\n",
		"errors/code.go":   "package lab\n\nvar (\n\t_ = fmt.Errorf(\"lab: start %s\", a)\n\t_ = errors.New(\"lab: no\")\n\t_ = errors.New(\"the lab: no\")\n\t_ = say(\"lab: \")\n)\n",
		"impls/zk/code.go": "package zk\n\nvar _ = errors.New(\"zk: no\")\n",
		"code_test.go":     "package code\n\nvar _ = \"made anew\"\n",
		"testdata/page.md": "made anew\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	forms, err := read(list)
	if err != nil {
		t.Fatal(err)
	}
	found, err := lookIn(dir, forms)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`deeper/code.go:5: "by who is": say`, `deeper/code.go:7: "gets on": say "makes progress"`,
		`page.md:3: "Declared, and so\nit was": say "as expected"`, `page.md:4: "There are 1 s": say`, `page.md:6: ". Who takes back what was given is barging.": say`,
		"errors/code.go:4: an error begins with its package", "errors/code.go:5: an error begins with its package",
		`page.md:9: "Who comes later waits.": say`,
	}
	got := strings.ReplaceAll(strings.Join(found, "\n"), dir+"/", "")
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("missed %s", w)
		}
	}
	if len(found) != len(want) {
		t.Errorf("found\n%s", got)
	}
}

// TestList: what is said instead is none of the banned forms, and a bad line is told.
func TestList(t *testing.T) {
	forms, err := read(list)
	if err != nil || len(forms) < 10 {
		t.Fatal(err, len(forms))
	}
	for _, f := range forms {
		if found := lookFor(forms, "say", f.say, 1); found != nil {
			t.Error(found)
		}
	}
	for _, bad := range []string{"no arrow", "( => open"} {
		if _, err := read(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
