package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/lockbench/lockbench/internal/lab"
	"github.com/lockbench/lockbench/internal/quorum"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
	"github.com/spf13/cobra"
)

// studied are the kinds of ensembles, with the lock that tries them.
var studied = []struct{ kind, algorithm string }{{"zookeeper", "zk-sequential"}, {"etcd", "etcd-lease"}}

// largest is the largest ensemble of the study.
const largest = 6

func (p program) quorumCommand() *cobra.Command {
	var out string
	var jobs int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "quorum",
		Short: "Measure how many servers an ensemble can lose, and what each side of a split can do",
		Args:  exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jobs < 1 {
				return usage("--jobs %d: at least 1", jobs)
			}
			if out == "" {
				out = rundir.NewDir("quorum")
			}
			if err := ready(cmd.Context(), run.LabLocal, []string{"zookeeper", "etcd"}); err != nil {
				return err
			}
			study, err := studyAll(cmd, out, jobs)
			if err != nil {
				return err
			}
			page, err := reports.Quorum(out, study)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", page)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), study)
			}
			return reports.QuorumTable(cmd.OutOrStdout(), study)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "the directory to write (default: runs/<time>-quorum)")
	cmd.Flags().IntVar(&jobs, "jobs", 2, "ensembles at the same time")
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on standard output")
	return cmd
}

// studyAll studies every ensemble: its crashes, and each of its splits, in labs of
// their own.
func studyAll(cmd *cobra.Command, out string, jobs int) (quorum.Study, error) {
	study := quorum.Study{Schema: 1}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
		done int
		free = make(chan struct{}, jobs)
	)
	for _, s := range studied {
		for n := 1; n <= largest; n++ {
			study.Ensembles = append(study.Ensembles, quorum.New(s.kind, n))
		}
	}
	for i := range study.Ensembles {
		e := &study.Ensembles[i]
		for few := 0; few <= e.Servers/2; few++ { // 0: its crashes
			wg.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				dir := filepath.Join(out, fmt.Sprintf("%s-%d-%d", e.Kind, e.Servers, few))
				result, err := studyOne(cmd.Context(), dir, e.Kind, e.Servers, few)
				mu.Lock()
				defer mu.Unlock()
				done++
				if err != nil {
					errs = append(errs, fmt.Errorf("%d %s servers: %w", e.Servers, e.Kind, err))
					return
				}
				e.Add(few, result)
				fmt.Fprintf(cmd.ErrOrStderr(), "[%d] %d %s servers: %s\n", done, e.Servers, e.Kind, result)
			})
		}
	}
	wg.Wait()
	return study, errors.Join(errs...)
}

func studyOne(ctx context.Context, dir, kind string, n, few int) (r quorum.Result, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return r, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return r, err
	}
	log, err := os.Create(filepath.Join(dir, "lockbench.log"))
	if err != nil {
		return r, err
	}
	defer log.Close()
	if err := run.InLab(ctx, run.LabLocal, log, "study", kind, strconv.Itoa(n), strconv.Itoa(few), dir); err != nil {
		return r, err
	}
	text, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

const resultFile = "result.json"

// study is the hidden verb that runs inside of a lab: study KIND SERVERS FEW DIR.
func (p program) study(cmd *cobra.Command, args []string) error {
	kind, dir := args[0], args[3]
	n, err1 := strconv.Atoi(args[1])
	few, err2 := strconv.Atoi(args[2])
	i := slices.IndexFunc(studied, func(s struct{ kind, algorithm string }) bool { return s.kind == kind })
	if err := errors.Join(err1, err2); err != nil || i < 0 {
		return usage("study %v: unknown kind or bad number", args)
	}
	impl, err := p.findAlgorithm(studied[i].algorithm)
	if err != nil {
		return err
	}
	l, err := lab.OpenLocal()
	if err != nil {
		return err
	}
	defer l.Close()
	bench := quorum.Bench{Lab: l, Impl: impl, Kind: kind, Servers: n, Log: func(name string) (*os.File, error) {
		return os.OpenFile(filepath.Join(dir, name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	}}
	r, err := bench.Measure(cmd.Context(), few)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, resultFile))
	if err != nil {
		return err
	}
	return errors.Join(printJSON(f, r), f.Close())
}
