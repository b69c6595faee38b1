package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/testkit"
)

// TestReadme: the command of README prints what stands there, but for its figures.
func TestReadme(t *testing.T) {
	t.Parallel()
	needLab(t, 1)
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## One command, and what it prints")
	command, section, _ := strings.Cut(section, "prints, after its progress:")
	want, _, found := strings.Cut(section, "\n\nThe client was frozen")
	args := strings.Fields(command)
	if !found || len(args) < 2 || args[0] != "./lockbench" {
		t.Fatalf("README has no command and what it prints: %q", command)
	}
	code, got, _ := testkit.Ran(t, testkit.Command(t, t.TempDir(), args[1:]...))
	if code != exitKept {
		t.Errorf("exit code %d, of which README says 0", code)
	}
	if got, want := shape(got), shape(want); got != want {
		t.Errorf("%v prints\n%s\nREADME has\n%s", args, got, want)
	}
}

var (
	figure     = regexp.MustCompile(`\d[\d.]*`)
	reportLine = regexp.MustCompile(`(?m)^\s*report: .*$`)
)

// shape is a text without its figures, the name of its report, and where its lines end.
func shape(text string) string {
	text = figure.ReplaceAllString(reportLine.ReplaceAllString(text, ""), "#")
	return strings.Join(strings.Fields(text), " ")
}
