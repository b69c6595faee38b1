package impls_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEachIsTried: a row that no test of its package makes is held to nothing that it claims. Those of other languages are held to it by
// lockbench conform.
func TestEachIsTried(t *testing.T) {
	list, err := os.ReadFile("all.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\t\t\t(\w+)\.(\w+)\(\d*\),$`).FindAllStringSubmatch(string(list), -1)
	if len(rows) < 40 {
		t.Fatalf("%d rows in all.go: this test does not find them", len(rows))
	}
	tests := map[string]string{} // of each package
	for _, row := range rows {
		in, name := row[1], row[2]
		if in == "none" || in == "languages" { // of which the one is no lock
			continue
		}
		if tests[in] == "" {
			files, err := filepath.Glob(filepath.Join(in, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				tests[in] += string(text)
			}
			if !strings.Contains(tests[in], "locktest.") {
				t.Errorf("impls/%s holds nothing to the suite", in)
			}
		}
		if !regexp.MustCompile(`(?:[^.\w]|\b` + in + `\.)` + name + `\(`).MatchString(tests[in]) {
			t.Errorf("%s.%s is in no test of its package: it needs a line in TestConformance", in, name)
		}
	}
}
