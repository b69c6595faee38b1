package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
		Short: "Begin a lock of your own in another language",
		Long: `template writes a lock into a directory, for you to change: a program that works as it is,
and what it needs to speak with lockbench (docs/protocol.md). The languages are ` + strings.Join(languages, ", ") + `.`,
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
	for _, name := range slices.Sorted(maps.Keys(t.Files)) {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
		if errors.Is(err, fs.ErrExist) {
			return usage("%s is there already: choose another directory", path)
		} else if err != nil {
			return err
		}
		_, err = f.WriteString(t.Files[name])
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	next := "lockbench run --exec " + shell.Line(t.Exec)
	if dir != "." {
		next = shell.Line("cd", dir) + " && " + next
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "it %s; then: %s\n", t.Needs, next)
	return nil
}
