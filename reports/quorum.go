package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/lockbench/lockbench/internal/quorum"
)

// QuorumTable writes the study of quorums for the terminal.
func QuorumTable(w io.Writer, study quorum.Study) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\tservers\tcrashes survived\tpublished\tsplits: who can still lock")
	for _, e := range study.Ensembles {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\n", e.Kind, e.Servers, e.Survives, published(e), splits(e))
	}
	return tw.Flush()
}

func published(e quorum.Ensemble) string {
	switch {
	case e.Published < 0:
		return "-"
	case e.Published == e.Survives:
		return fmt.Sprint(e.Published)
	}
	return fmt.Sprintf("%d (differs)", e.Published)
}

func splits(e quorum.Ensemble) string {
	var all []string
	for _, s := range e.Splits {
		all = append(all, fmt.Sprintf("%s|%s", side(s.Few), side(s.Many)))
	}
	return strings.Join(all, "  ")
}

func side(s quorum.Side) string {
	if s.Locks {
		return fmt.Sprintf("%d locks", s.Servers)
	}
	return fmt.Sprintf("%d no", s.Servers)
}

// Quorum writes the study into dir, as quorum.json and as a page.
func Quorum(dir string, study quorum.Study) (path string, err error) {
	text, err := json.MarshalIndent(study, "", "  ")
	if err != nil {
		return "", fmt.Errorf("reports: quorum: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "quorum.json"), text, 0o644); err != nil {
		return "", fmt.Errorf("reports: quorum: %w", err)
	}
	return filepath.Join(dir, "quorum.json"), nil
}
