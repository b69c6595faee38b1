package backends_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// namedElsewhere are the files outside of a backend's own folder that name one in a string, and why.
var namedElsewhere = map[string]string{
	"cli/compare.go":                      "an example of a command",
	"cli/main.go":                         "an example of a command",
	"cli/matrix.go":                       "an example of a command",
	"cli/run.go":                          "an example of a command",
	"docker/kubernetes/build.go":          "Kubernetes keeps its state in one",
	"docker/kubernetes/first.go":          "Kubernetes keeps its state in one",
	"faults/handover.go":                  "the commands by which people do it",
	"faults/snapshot.go":                  "the commands by which people do it",
	"internal/run/machine.go":             "the drivers whose versions a plan tells",
	"reports/lockpage.go":                 "an example of a store that refuses late writes",
	"cli/bench.go":                        "the default baseline is a row",
	"cli/serve.go":                        "an example of a command",
	"cli/hidden.go":                       "the servers that are built in are verbs of this program",
	"cli/facts.go":                        "examples of commands",
	"cli/list.go":                         "an example of a command",
	"cli/explore.go":                      "an example of a command",
	"cli/flags.go":                        "examples of flags",
	"internal/testkit/labtest/labtest.go": "tests are the servers that are built in",
	"internal/bench/placement/draw.go":    "the title of its picture",
	"internal/bench/placement/main.go":    "measures a round trip to a server that everybody knows",
	"reports/benchothers.go":              "a figure that was published for etcd",
	"faults/nospace.go":                   "a command that only etcd has",
	"faults/sentinelreset.go":             "a command that only Sentinels have",
	"lab/operation.go":                    "what people call a command of Sentinels",
	"lab/external/addrs.go":               "a key of a file of the user's",
	"lab/external/door_linux.go":          "a word of a protocol of its own",
	"lab/external/driver.go":              "counts Sentinels",
	"lab/external/look.go":                "what to do about Sentinels",
	"lab/external/lab_linux.go":           "tells a Sentinel by its host's name",
	"internal/worker/protocol.go":         "a word of a protocol of its own",
}

var backendNames = regexp.MustCompile(`(?i)redis|redlock|sentinel|zookeeper|\bzk-|etcd|mariadb|mysql|postgres|memcached|\bnats\b|consul`)

// TestNames: nobody outside of the folders of a backend and of its locks names one, but those who are listed, and these do.
// Surveys, facts about servers and examples are about them.
func TestNames(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, _ := filepath.Rel(root, path)
		file = filepath.ToSlash(file)
		if d.IsDir() {
			switch file {
			case ".git", "impls", "internal/claims", "internal/facts", "examples", "docs":
				return fs.SkipDir
			}
			if dir, name, _ := strings.Cut(file, "/"); dir == "backends" && name != "" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				if n.Tag != nil && backendNames.MatchString(n.Tag.Value) {
					found[file] = true
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING && backendNames.MatchString(n.Value) {
					if _, listed := namedElsewhere[file]; !listed {
						t.Errorf("%s names a backend: %.80s", file, n.Value)
					}
					found[file] = true
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, why := range namedElsewhere {
		if !found[file] {
			t.Errorf("%s names no backend any more (%s): take it off the list", file, why)
		}
	}
}
