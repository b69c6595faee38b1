package languages

import (
	"context"
	"embed"
	"fmt"
	"os"
	"slices"
	"sync"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/impls/internal/compose"
	"github.com/lockbench/lockbench/internal/wire"
)

// adapters are the programs, what they share, and the templates that users begin with.
//
//go:embed adapters/*.py adapters/*.php adapters/*.js adapters/*.java adapters/*.sh adapters/*.json
var adapters embed.FS

// row is a lock with an adapter.
type row struct {
	lock  foreign.Lock
	needs string                              // as Debian calls it
	asked func() (foreign.Description, error) // what it says of itself, once
}

// adapter makes the row that a command in the directory of the adapters starts, and that the
// file described tells of.
func adapter(command, described, needs string, expect []lb.Expectation) lb.Impl {
	text, err := adapters.ReadFile("adapters/" + described)
	if err != nil {
		panic(err) // it is part of the program
	}
	d, err := foreign.ParseFile(text)
	if err != nil {
		panic(fmt.Errorf("%s: %w", described, err))
	}
	// Which clock a library of another language reads nobody promises.
	expect = slices.Clone(expect)
	for i, e := range expect {
		if e.Why == compose.ByNoWallClock(e.Fault).Why {
			expect[i].Why = "the server decides when the lock ends; whichever clock the library reads, it measures its own waits only"
		}
	}
	r := &row{needs: needs, lock: foreign.Lock{Description: d, Expect: expect,
		Command: foreign.Command{Line: `exec "$LOCKBENCH_ADAPTERS"/` + command, Title: "the adapter of " + d.Name}}}
	r.asked = sync.OnceValues(r.ask)
	return r
}

// Info implements [lb.Impl].
func (r *row) Info() lb.Info { return r.lock.Info() }

// Hearing is the row on servers that speak s, as [foreign.Hearing] wants it.
func (r *row) Hearing(s wire.Language) lb.Impl {
	on := *r
	on.lock.Speaks = s
	return &on
}

// Open implements [lb.Impl].
func (r *row) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	lock, err := r.started()
	if err != nil {
		return nil, err
	}
	return lock.Open(ctx, env)
}

// started is the lock with a command that can be started.
func (r *row) started() (foreign.Lock, error) {
	lock := r.lock
	dir, err := installed()
	// Where Debian has the packages of Node, which looks for none beside a link.
	lock.Command.Env = []string{"LOCKBENCH_ADAPTERS=" + dir, "NODE_PATH=" + os.Getenv("NODE_PATH") + ":/usr/share/nodejs"}
	return lock, err
}

func (r *row) ask() (foreign.Description, error) {
	lock, err := r.started()
	if err != nil {
		return foreign.Description{}, err
	}
	d, _, err := foreign.Describe(context.Background(), lock.Command)
	return d, err
}

// Ready says why this machine can't run the lock, or nil.
func (r *row) Ready() error {
	if _, err := r.asked(); err != nil {
		return fmt.Errorf("%s needs %s (make languages installs it): %w", r.Info().Name, r.needs, err)
	}
	return nil
}

// Versions are those of the libraries, by name, as the program tells them.
func (r *row) Versions() map[string]string {
	d, _ := r.asked()
	return d.Versions
}

// Conformance implements [foreign.Described].
func (r *row) Conformance() foreign.Description { return r.lock.Description }
