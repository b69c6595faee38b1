package cli

import (
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/docs"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/spf13/cobra"
)

// helpCommand explains the commands, as cobra's own does, and prints the pages of the manual.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND|TOPIC]",
		Short: "Explain a command, or print a page of the manual",
		Long:  "help explains a command, or prints a page of the manual. Without either it lists both.",
		Example: `  lockbench help cells
  lockbench help run`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			names := namesOf(docs.Pages(), func(p docs.Page) (string, string) { return p.Topic, p.Title })
			for _, c := range root.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return helpOnAll(root)
			}
			topics := verbs(root)
			for _, p := range docs.Pages() {
				if p.Topic == strings.TrimSuffix(strings.TrimPrefix(args[0], "docs/"), ".md") { // as texts name it
					_, err := fmt.Fprint(cmd.OutOrStdout(), p.Text)
					return err
				}
				topics = append(topics, p.Topic)
			}
			if found, _, err := root.Find(args); err == nil && found != root {
				return found.Help()
			}
			return usage("unknown topic %q%s", args[0], english.Near(args[0], topics))
		},
	}
}

func helpOnAll(root *cobra.Command) error {
	if err := root.Help(); err != nil {
		return err
	}
	w := root.OutOrStdout()
	if _, err := fmt.Fprint(w, "\nThe manual (lockbench help TOPIC):\n"); err != nil {
		return err
	}
	for _, p := range docs.Pages() {
		if p.Part() {
			continue
		}
		if _, err := fmt.Fprintf(w, "  %-13s %s\n", p.Topic, p.Title); err != nil {
			return err
		}
	}
	return nil
}
