// Package facts asks real servers what locks rest on and no lock can show: what a node, a row, a
// count or a connection is, whatever is locked with it.
package facts

import (
	"context"
	"fmt"
	"slices"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/lab"
)

// Question is asked of servers that were started for it and that nobody else uses.
type Question struct {
	// Name is how a user calls it.
	Name string
	// Asks is the question in a few words.
	Asks string
	// Topology are the servers.
	Topology lab.Topology
	// ask finds out, and leaves the servers as it likes.
	ask func(ctx context.Context, at bench) ([]Fact, error)
}

// Fact is one thing that was found out.
type Fact struct {
	// Name is "what-it-is", in the words of a statement that is true or false.
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	// Saw is what was seen, with its figures.
	Saw string `json:"saw"`
}

// Answer are the facts that one question gave.
type Answer struct {
	Question string `json:"question"`
	Asks     string `json:"asks"`
	Facts    []Fact `json:"facts,omitempty"`
	// Failed says why there are none.
	Failed string `json:"failed,omitempty"`
}

// Answers is what lockbench facts prints with --json.
type Answers struct {
	Schema  int      `json:"schema"`
	Answers []Answer `json:"answers"`
}

// Bound is how long one question may take, in a lab of its own, the start of its servers included.
const Bound = 2 * time.Minute

// Questions are all there are.
func Questions() []Question {
	return slices.Concat(zookeeperQuestions(), mariadbQuestions(), etcdQuestions(), otherQuestions())
}

// Find returns the question of that name.
func Find(name string) (Question, bool) {
	all := Questions()
	i := slices.IndexFunc(all, func(q Question) bool { return q.Name == name })
	if i < 0 {
		return Question{}, false
	}
	return all[i], true
}

// bench is what a question has to find out with.
type bench struct {
	servers []*lab.Server
	// lock finds a lock by its name.
	lock func(name string) (lb.Impl, error)
	// dir is an empty directory.
	dir string
}

func (b bench) endpoints() []string { return lab.Endpoints(b.servers) }

// Ask asks the servers, which are those of the question's topology, in its order. The directory is
// empty, and is left to who made it.
func (q Question) Ask(ctx context.Context, servers []*lab.Server, lock func(name string) (lb.Impl, error), dir string) (Answer, error) {
	a := Answer{Question: q.Name, Asks: q.Asks}
	found, err := q.ask(ctx, bench{servers, lock, dir})
	if err != nil {
		return a, fmt.Errorf("%s: %w", q.Name, err)
	}
	a.Facts = found
	return a, nil
}

// topology is one that must be there.
func topology(name string) lab.Topology {
	t, ok := backends.Topology(name)
	if !ok {
		panic("facts: there is no topology " + name)
	}
	return t
}
