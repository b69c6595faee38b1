package cli

import (
	"fmt"
	"io"
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/english"
)

// byTheBook are correct locks, by the servers that they are on: what one of them does under a
// fault, every lock of its kind does. Where it matters the second is renewed.
var byTheBook = map[string][2]string{
	"redis":     {"redis-setpx-lua", "redis-watchdog"},
	"redis-5":   {"redlock", "redlock-watchdog"},
	"zookeeper": {"zk-sequential", "zk-sequential"},
	"etcd":      {"etcd-lease", "etcd-lease"},
	"mariadb":   {"mysql-insert-ttl", "mysql-forupdate"},
}

// beside is the lock that stands beside a program of the user's, to tell its own mistakes from
// what no lock of its kind can do; "" for none, as on a topology on which it does not run.
func (p program) beside(own *history.Exec, topology string) string {
	impl, err := p.Lock(own.Name)
	if err != nil {
		return ""
	}
	info := impl.Info()
	for _, t := range info.Topologies {
		locks, ok := byTheBook[t]
		if !ok {
			continue
		}
		name := locks[0]
		if t := info.Traits; t.Renewing || t.Session {
			name = locks[1]
		}
		if l, err := p.Lock(name); err == nil && (topology == "" || slices.Contains(l.Info().Topologies, topology)) {
			return name
		}
	}
	return ""
}

// tellWhose says of each fault that hurt the program's users what it did to those of the lock
// beside it. Both are often one run: where to look is a hint, and whose mistake it is stays open.
func tellWhose(w io.Writer, own, beside string, cells []checker.Cell) {
	worse := []lb.Outcome{lb.Safe, lb.Check, lb.Fence, lb.Stuck, lb.Broken}
	for _, c := range cells {
		mine := slices.Index(worse, c.Outcome)
		i := slices.IndexFunc(cells, func(o checker.Cell) bool { return o.Algorithm == beside && o.Fault == c.Fault })
		if c.Algorithm != own || mine < 1 || i < 0 || !slices.Contains(worse, cells[i].Outcome) {
			continue
		}
		o := &cells[i]
		fmt.Fprintf(w, "%s × %s: %s; %s, a correct lock on such servers, was %s there: ", own, c.Fault, how(&c), beside, how(o))
		switch other := slices.Index(worse, o.Outcome); {
		case other == 0:
			fmt.Fprint(w, "look at yours first\n")
		case mine > other:
			fmt.Fprint(w, "look first at what yours does worse\n")
		case mine < other:
			fmt.Fprint(w, "yours was no worse\n")
		case c.Mechanism != o.Mechanism:
			fmt.Fprint(w, "look first at what yours does otherwise\n")
		default:
			fmt.Fprint(w, "both were hurt the same way, so look whether for the same reason\n")
		}
	}
}

// how is the outcome with its mechanism, the worst of so many runs.
func how(c *checker.Cell) string {
	s := string(c.Outcome)
	if c.Mechanism != "" {
		s += " (" + c.Mechanism + ")"
	}
	if c.Runs > 1 {
		s += " at worst"
	}
	return s + " in " + english.Count(c.Runs, "run")
}
