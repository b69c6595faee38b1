package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/shell"
	"github.com/spf13/cobra"
)

func (p program) templateCommand() *cobra.Command {
	var languages []string
	for _, t := range p.Templates {
		languages = append(languages, t.Language)
	}
	return &cobra.Command{
		Use:   "template LANGUAGE [DIR]",
		Short: "Begin a lock of your own",
		Long: `template writes a lock into a directory, for you to change, that works as it is. In Go it is
lockbench with one lock more; in the other languages a program, and what it needs to speak with
lockbench (docs/protocol.md). The languages are ` + strings.Join(languages, ", ") + `.`,
		Example: "  lockbench template python mylock",
		Args:    args(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: func(_ *cobra.Command, words []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(words) > 0 {
				return nil, cobra.ShellCompDirectiveFilterDirs
			}
			return languages, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, words []string) error {
			i := slices.Index(languages, words[0])
			if i < 0 {
				_, err := named(0, &catalog.UnknownError{What: "language", Name: words[0], Known: languages})
				return err
			}
			dir := "."
			if len(words) > 1 {
				dir = words[1]
			}
			return begin(cmd, p.Templates[i], dir)
		},
	}
}

// begin writes the files of a template, and says what to do with them. It writes over none.
func begin(cmd *cobra.Command, t foreign.Template, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := maps.Clone(t.Files)
	if t.Module {
		files["go.mod"] += replaced(dir)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
		if errors.Is(err, fs.ErrExist) {
			return usage("%s is there already: choose another directory", path)
		} else if err != nil {
			return err
		}
		_, err = f.WriteString(files[name])
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "it needs %s; then: %s\n", t.Needs, strings.Join(onward(t, dir), " && "))
	return nil
}

// onward are the commands that try what was written, the one after the other.
func onward(t foreign.Template, dir string) (steps []string) {
	self := os.Args[0]
	if dir != "." {
		steps = append(steps, shell.Line("cd", dir))
		if at, err := filepath.Abs(self); err == nil && filepath.Base(self) != self { // a name alone is on the PATH, also from there
			self = at
		}
	}
	if t.Build != "" {
		steps = append(steps, t.Build)
	}
	if t.Exec == "" {
		return append(steps, t.Run)
	}
	return append(steps, shell.Line(self, "run", "--exec", t.Exec))
}

// module is lockbench's own.
const module = "github.com/lockbench/lockbench"

// replaced are the lines of a go.mod that take lockbench from the checkout that dir, or where we are, is
// in; "" where neither is in one: then Go takes the newest that is published.
func replaced(dir string) string {
	for _, from := range []string{dir, "."} {
		at, err := filepath.Abs(from)
		if err != nil {
			continue
		}
		for ; ; at = filepath.Dir(at) {
			text, err := os.ReadFile(filepath.Join(at, "go.mod"))
			if err == nil && strings.HasPrefix(string(text), "module "+module+"\n") {
				return fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %s\n", module, module, strconv.Quote(at))
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return ""
}
