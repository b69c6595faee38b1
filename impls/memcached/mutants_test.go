package memcached

import (
	"context"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	backend "github.com/lockbench/lockbench/backends/memcached"
	"github.com/lockbench/lockbench/internal/testkit/mutants"
)

func TestMain(m *testing.M) { mutants.Main(m, allMutants()) }

// TestMutants breaks one step of a correct algorithm, and wants lockbench to see it: one line a mutant.
func TestMutants(t *testing.T) {
	t.Parallel()
	mutants.Run(t, allMutants())
}

func allMutants() []mutants.Mutant {
	short := mutants.New(wholeSeconds(), AddCas(), "pause-holder", lb.DoubleGrant, lb.Broken)
	short.TTL = time.Second
	return []mutants.Mutant{
		mutants.New(AddDelete(), AddCas(), "release-twice", lb.DoubleGrant, lb.Broken),
		short,
	}
}

// wholeSeconds is [AddCas] that takes the server's seconds for those of a clock: the item is stored for the lease, and is
// gone before.
func wholeSeconds() lb.Impl {
	a := AddCas().(algorithm)
	a.info.Name, a.info.Expect = "memcached-whole-seconds", nil
	a.open = func(s *session) lb.Client { return rounded{addCas{addDelete{s}}} }
	return a
}

type rounded struct{ addCas }

func (c rounded) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	return c.env.Poll(ctx, req, func(ctx context.Context) (*lb.Lease, error) {
		sent, err := c.ask(ctx, req, "add", func(ctx context.Context, conn *backend.Conn) error {
			added, err := conn.Add(ctx, key(req.Lock), req.Owner, int(c.env.TTL/time.Second))
			return granted(added, err)
		})
		if err != nil {
			return nil, lb.Unsent(err)
		}
		return c.env.Grant(req, 0, c.env.Validity(sent)), nil
	})
}
