package cli

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestWorkflows: what the ready workflows say exists: the verbs and flags of lockbench, the
// targets of make, and, among what is kept, what the gate was told to write.
func TestWorkflows(t *testing.T) {
	for file, get := range map[string]func(any) (commands, kept []string){
		"github.yml":        ofGitHub,
		"github-shards.yml": ofGitHub,
		"gitlab.yml":        ofGitLab,
	} {
		t.Run(file, func(t *testing.T) {
			commands, kept := get(readYAML("../docs/ci/" + file))
			wrote := map[string]string{}
			for _, c := range commands {
				tryCommand(t, strings.Fields(c), wrote)
			}
			for _, verb := range []string{"gate", "doctor"} {
				if wrote[verb] == "" {
					t.Errorf("lockbench %s is not run: %q", verb, commands)
				}
			}
			for _, flag := range []string{"--out", "--junit"} {
				if f := wrote[flag]; f == "" || !slices.Contains(kept, f) && !slices.Contains(kept, f+"/") {
					t.Errorf("%s %q is not kept: %q", flag, f, kept)
				}
			}
		})
	}
}

// at follows keys and indexes into a document; nil where they lead nowhere.
func at(doc any, keys ...any) any {
	for _, k := range keys {
		switch d := doc.(type) {
		case map[string]any:
			doc = d[fmt.Sprint(k)]
		case []any:
			i, _ := k.(int)
			if i >= len(d) {
				return nil
			}
			doc = d[i]
		default:
			return nil
		}
	}
	return doc
}

func texts(v any) (list []string) {
	items, _ := v.([]any)
	for _, x := range items {
		list = append(list, fmt.Sprint(x))
	}
	return list
}

// ofGitHub are the steps of the jobs of a workflow, and of the action that they install by.
func ofGitHub(doc any) (commands, kept []string) {
	for _, job := range []string{"shard", "gate"} {
		for i := 0; at(doc, "jobs", job, "steps", i) != nil; i++ {
			step := at(doc, "jobs", job, "steps", i)
			commands = append(commands, ran(step)...)
			uses, _ := at(step, "uses").(string)
			if strings.HasPrefix(uses, "actions/upload-artifact@") && at(step, "if") == "always()" {
				kept = append(kept, strings.Fields(filled(fmt.Sprint(at(step, "with", "path"))))...)
			}
			if of, ours := strings.CutPrefix(uses, "lockbench/lockbench/"); ours {
				dir, _, _ := strings.Cut(of, "@")
				action := readYAML("../" + dir + "/action.yml")
				for i := 0; at(action, "runs", "steps", i) != nil; i++ {
					commands = append(commands, ran(at(action, "runs", "steps", i))...)
				}
			}
		}
	}
	return commands, kept
}

// filled has a number for what stands in braces.
func filled(s string) string {
	return regexp.MustCompile(`\$\{\{[^}]*\}\}`).ReplaceAllString(s, "1")
}

// ran are the commands of a step.
func ran(step any) []string {
	s, ok := at(step, "run").(string)
	if !ok {
		return nil
	}
	return strings.Split(strings.TrimSpace(filled(s)), "\n")
}

func readYAML(file string) (doc any) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalWithOptions(text, &doc, yaml.Strict())
	}
	if err != nil {
		panic(err)
	}
	return doc
}

func ofGitLab(doc any) (commands, kept []string) {
	commands = append(texts(at(doc, "locks", "before_script")), texts(at(doc, "locks", "script"))...)
	if at(doc, "locks", "artifacts", "when") == "always" {
		kept = texts(at(doc, "locks", "artifacts", "paths"))
	}
	return commands, kept
}

// tryCommand wants a command to exist, and notes which verbs run and what flags say.
func tryCommand(t *testing.T, words []string, wrote map[string]string) {
	t.Helper()
	if words[0] == "sudo" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "--preserve-env=") })
	}
	switch words[0] {
	case "git", "install":
	case "make":
		text, err := os.ReadFile("../Makefile")
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range words[3:] { // after -C and its directory
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(text) {
				t.Errorf("make has no target %s", target)
			}
		}
	case "lockbench":
		cmd, rest, err := program{things()}.rootCommand().Find(words[1:])
		if err != nil || !cmd.HasParent() {
			t.Fatalf("%q: %v", words, err)
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", words, err)
		}
		wrote[cmd.Name()] = "ran"
		for i, w := range rest {
			if strings.HasPrefix(w, "--") && i+1 < len(rest) {
				wrote[w] = rest[i+1]
			}
		}
	default:
		t.Errorf("%q is no command that a new machine has", words)
	}
}
