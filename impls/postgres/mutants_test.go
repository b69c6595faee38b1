package postgres

import (
	"context"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/sqllock"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	return []mutants.Mutant{
		mutants.New(anybodys(), Insert(), "pause-holder", lb.DoubleGrant, lb.Broken, lb.Fence),
	}
}

// anybodys is [Insert] whose release does not look whose the row is: a holder that comes back late gives back what is
// another's by then.
func anybodys() lb.Impl {
	a := Insert().(sqllock.Algorithm)
	a.About.Name, a.About.Expect = "postgres-insert-anybodys", nil
	a.Client = func(_ context.Context, s session) (lb.Client, error) { return anybody{insert{s}}, nil }
	return a
}

type anybody struct{ insert }

func (c anybody) Release(ctx context.Context, req lb.Request) error {
	_, err := c.Insist(ctx, req, "release", "UPDATE lockbench_insert SET expires = '-infinity' WHERE name = $1", []byte(req.Lock))
	return err
}
