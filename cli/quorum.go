package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/lockbench/lockbench/internal/quorum"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

// ensembles are the topologies whose servers make them.
func (p program) ensembles() []lab.Topology {
	return slices.DeleteFunc(slices.Clone(p.Topologies), func(t lab.Topology) bool { return t.Ensembles == nil })
}

// measuresQuorum is the hidden verb.
const measuresQuorum = "measures-quorum"

// largest is the largest ensemble of the study.
const largest = 6

func (p program) quorumCommand() *cobra.Command {
	var out string
	var jobs int
	var asJSON bool
	var names, titles []string
	for _, t := range p.ensembles() {
		names, titles = append(names, t.Name), append(titles, t.Ensembles.Title)
	}
	cmd := &cobra.Command{
		Use:   "quorum",
		Short: "Measure how many servers an ensemble can lose, and what each side of a split can do",
		Long: `quorum starts one to six servers for each of ` + strings.Join(titles, ", ") + `, kills them one by one, and
splits them in two, and measures after each step whether a lock can still be taken, on
either side. Where fewer can serve, it ends there. The answer is a table and a page.`,
		Example: "  lockbench quorum\n  lockbench quorum --jobs 3 --out quorum",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jobs < 1 {
				return usage("--jobs %d: at least 1", jobs)
			}
			ours := out == ""
			out, driver, err := p.begin(out, "quorum", rundir.QuorumFile)
			if err != nil {
				return err
			}
			if err := p.ready(cmd.Context(), driver, names, lab.Own{}, false); err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			defer rundir.Hold(out)()
			study, failed := p.studyAll(cmd, driver, out, jobs)
			page, noPage := reports.Quorum(out, study)
			if noPage == nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", page)
			}
			if ours {
				if err := rundir.Latest(out); err != nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "note:", err)
				}
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), study)
			} else {
				err = reports.QuorumTable(cmd.OutOrStdout(), study)
			}
			return errors.Join(failed, noPage, err)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory to write (default: runs/<time>-quorum)")
	cmd.Flags().IntVar(&jobs, "jobs", 2, "ensembles at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

// studyAll studies every ensemble: its crashes, and each of its splits, in labs of
// their own. One of which a part is missing is left out, and named.
func (p program) studyAll(cmd *cobra.Command, driver lab.Driver, out string, jobs int) (quorum.Study, error) {
	study, ctx := quorum.Study{Schema: quorum.Schema}, cmd.Context()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs = map[int]error{} // by ensemble
		done int
		free = make(chan struct{}, jobs)
	)
	for _, t := range p.ensembles() {
		for n := 1; n <= min(largest, cmp.Or(t.Ensembles.Most, largest)); n++ {
			study.Ensembles = append(study.Ensembles, quorum.New(t.Name, t.Ensembles.Title, n))
		}
	}
	for i := range study.Ensembles {
		e := &study.Ensembles[i]
		for few := 0; few <= e.Servers/2; few++ { // 0: its crashes
			wg.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				dir := filepath.Join(out, fmt.Sprintf("%s-%d-%d", e.Kind, e.Servers, few))
				result, err := studied[quorum.Result](ctx, driver, dir, measuresQuorum, e.Kind, strconv.Itoa(e.Servers), strconv.Itoa(few))
				mu.Lock()
				defer mu.Unlock()
				done++
				if err != nil {
					errs[i] = fmt.Errorf("%d %s servers: %w", e.Servers, e.Kind, err)
					return
				}
				e.Add(few, result)
				fmt.Fprintf(cmd.ErrOrStderr(), "[%d] %d %s servers: %s\n", done, e.Servers, e.Kind, result)
			})
		}
	}
	wg.Wait()
	whole := []quorum.Ensemble{}
	for i, e := range study.Ensembles {
		if err := errs[i]; err != nil {
			study.Missing = append(study.Missing, err.Error())
		} else {
			whole = append(whole, e)
		}
	}
	study.Ensembles = whole
	return study, errors.Join(slices.Collect(maps.Values(errs))...)
}

// measuresQuorum is the hidden verb: measures-quorum KIND SERVERS FEW DIR.
func (p program) measuresQuorum(cmd *cobra.Command, args []string) error {
	topology, err := named(p.Topology(args[0]))
	if err != nil {
		return err
	}
	n, err1 := strconv.Atoi(args[1])
	few, err2 := strconv.Atoi(args[2])
	if err := errors.Join(err1, err2); err != nil || topology.Ensembles == nil {
		return usage("%s %v: unknown kind or bad number", cmd.Name(), args)
	}
	impl, err := named(p.Lock(topology.Ensembles.Algorithm))
	if err != nil {
		return err
	}
	return p.study(cmd.Context(), args[3], func(l lab.Lab, log logs) (any, error) {
		bench := quorum.Bench{Lab: l, Impl: impl, Kind: topology.Kind, Servers: n, Log: log}
		return bench.Measure(cmd.Context(), few)
	})
}
