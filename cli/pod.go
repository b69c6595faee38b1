package cli

import (
	"context"
	"encoding/json"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/kubernetes"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/spf13/cobra"
)

// shardVerb is what the pods of a matrix are started with.
const shardVerb = "pod-shard"

// podHome is where pods keep what they record: the manifest starts them in a directory of their own.
const podHome = "."

// podFlags are those of a pod's, beside those of matrix.
type podFlags struct {
	of      int
	planned string // the digest of the matrix
}

func (p *podFlags) add(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.of, "of", 1, "shards in all")
	cmd.Flags().StringVar(&p.planned, "planned", "", "what must come of the plan")
}

// podCommands are what pods of lockbench's image are started and asked with.
func (prog program) podCommands() []*cobra.Command {
	var f matrixFlags
	var p podFlags
	shard := &cobra.Command{Use: shardVerb, Hidden: true, Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return prog.shard(cmd, &f, p) }}
	f.add(shard, prog.Catalog)
	p.add(shard)
	return []*cobra.Command{shard,
		{Use: kubernetes.HandOverVerb, Hidden: true, Args: exactly(0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				return kubernetes.HandOver(podHome, cmd.OutOrStdout())
			}},
		{Use: kubernetes.EndVerb + " HOW", Hidden: true, Args: exactly(1),
			RunE: func(_ *cobra.Command, args []string) error {
				if err := kubernetes.End(podHome, args[0]); err != nil {
					return usage("%w", err)
				}
				return nil
			}},
	}
}

// shard does the shard of a matrix that this pod is for. What goes on it tells as lines of JSON.
func (prog program) shard(cmd *cobra.Command, f *matrixFlags, p podFlags) error {
	index, err := kubernetes.Index()
	if err != nil {
		return usage("%w", err)
	}
	here := prog.Catalog
	prog.Catalog = here.Elsewhere()
	if err := prog.agreed(cmd.Context(), f, p); err != nil {
		return err
	}
	prog.Catalog = here
	m, err := prog.matrix(cmd.Context(), f, "matrix")
	if err != nil {
		return err
	}
	if m.Shard = (rundir.Shard{Nth: index + 1, Of: p.of}); m.Shard.Nth > m.Shard.Of {
		return usage("shard %v: there are not so many", m.Shard)
	}
	f.out = podHome
	if err := prog.canRun(cmd.Context(), &f.planFlags, m); err != nil {
		return err
	}
	m.Watch = (&teller{out: json.NewEncoder(cmd.OutOrStdout()), going: map[news]bool{}}).tell
	return kubernetes.Serve(cmd.Context(), podHome, cmd.OutOrStdout(), func(ctx context.Context, dir string) error {
		return m.DoShard(ctx, dir)
	})
}

// agreed refuses what this lockbench would plan otherwise than the one that made the job.
func (prog program) agreed(ctx context.Context, f *matrixFlags, p podFlags) error {
	of := *f
	m, err := prog.matrix(ctx, &of, "matrix")
	if err != nil {
		return err
	}
	if m.Digest() != p.planned {
		return usage("the lockbench of the image (%s) plans other runs than the one that made the job: build the image and the program of the same sources, or name another with --pod-image", thisVersion())
	}
	return nil
}

// news is a line of a pod's: a run has begun, or has ended.
type news struct {
	Algorithm string `json:"algorithm"`
	Fault     string `json:"fault"`
	Run       int    `json:"run"`
	// Cell is of the shard's runs so far; nil where a run begins.
	Cell  *checker.Cell `json:"cell,omitempty"`
	Whole bool          `json:"whole,omitempty"`
	Done  int           `json:"done"`
	Total int           `json:"total"`
}

// teller writes what a matrix tells. That it can't be written costs nobody a run.
type teller struct {
	out   *json.Encoder
	going map[news]bool
}

func (t *teller) tell(p run.Progress) {
	of := news{Algorithm: p.Algorithm, Fault: p.Fault, Run: p.Run}
	if p.Phase != "" && t.going[of] {
		return
	}
	line := of
	line.Done, line.Total = p.Done, p.Total
	if t.going[of] = true; p.Phase == "" {
		delete(t.going, of)
		line.Cell, line.Whole = &p.Cell, p.Whole
	}
	_ = t.out.Encode(line)
}
