package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
)

// Borrowed are servers that somebody else runs, and perhaps uses. Only what begins with
// [lb.Prefix] is lockbench's there: nothing else is looked at, written or removed.
type Borrowed interface {
	// Fits says why the servers are none of the topology, or nil; Like is the topology with as
	// many of them as there are.
	Fits(t Topology) error
	Like(t Topology) Topology
	// Ready says whether they let us in and take what we write. The error is an [OccupiedError]
	// where something is there already. It returns within some seconds.
	Ready(ctx context.Context, k Kind) error
	// Take marks the servers as used by one run, which nobody else has done. GiveBack removes all
	// that is lockbench's, and the mark at last; it touches nothing where the mark is another's.
	// Clear removes what another has left, unless that goes on on this machine.
	Take(ctx context.Context, k Kind) error
	GiveBack(k Kind) error
	Clear(k Kind) error
	// Command is that by which a user has the servers struck by the fault of that name;
	// ByCommand are the names of all for which there is one.
	Command(fault string) (ShellCommand, bool)
	ByCommand() []string
}

// ShellCommand is a command that strikes servers, and one that heals them, "" where they
// heal by themselves.
type ShellCommand struct {
	Do   string `yaml:"do"`
	Undo string `yaml:"undo"`
}

// OccupiedError is what the servers keep under the prefix, and who says that they use them, ""
// for nobody.
type OccupiedError struct {
	Names []string
	By    string
}

func (e *OccupiedError) Error() string {
	const few = 3
	some := strings.Join(e.Names[:min(few, len(e.Names))], ", ")
	if len(e.Names) > few {
		some += ", …"
	}
	by := ""
	if e.By != "" {
		by = " (" + e.By + ")"
	}
	if len(e.Names) == 0 {
		return fmt.Sprintf("the servers are marked as in use by a run that goes on or was killed%s, and nothing else was found under %s", by, lb.Prefix)
	}
	return fmt.Sprintf("the servers keep something under %s already, of a run that goes on or was killed%s: %s (%d in all)", lb.Prefix, by, some, len(e.Names))
}

// Serves says why the lab has no servers of the topology, or nil.
func (d Driver) Serves(t Topology) error {
	switch {
	case t.Servers == 0:
		return nil
	case d.Borrowed != nil:
		return d.Borrowed.Fits(t)
	case t.Virtual:
		return d.Can(MovingAddress)
	}
	return nil
}

// Commander is a lab whose servers are struck by commands of the user's.
type Commander interface {
	// Command runs one where lockbench was called, and returns what it printed last. It ends
	// with ctx.
	Command(ctx context.Context, command string) (said string, err error)
	// Watch looks whether the servers answer, until stop is called, which says for how long one
	// of them did not.
	Watch(ctx context.Context) (stop func() (Outage, error), err error)
}

// Outage is the longest time in which a server did not answer, and how long it usually takes
// to.
type Outage struct {
	Server string        `json:"server,omitempty"`
	For    time.Duration `json:"ns"`
	Usual  time.Duration `json:"usual_ns"`
}
