package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/wire"
)

// ErrMissing is a server's program that is not installed.
var ErrMissing = errors.New("not installed")

// Topology is a lock service as data: so many servers of one kind.
type Topology struct {
	Name    string
	Doc     string
	Kind    Kind
	Servers int
	// Sentinels watch the servers and promote one when their leader fails.
	Sentinels int
	// Watchers is what those are.
	Watchers Kind
	// Master is what they call it.
	Master string
	// Virtual: clients use one address, which moves to the server that is promoted.
	Virtual bool
	// Delayed: a server that crashed stays down for longer than any lease.
	Delayed bool
	// Ensembles of such servers are studied; nil where they are not.
	Ensembles *Ensembles
}

// Ensembles are those of one server, two, and so on, in the study of how many a lock service can lose.
type Ensembles struct {
	// Title is what people call the lock service.
	Title string
	// Algorithm is the lock that tries it.
	Algorithm string
	// Most is how many servers can keep a lock together, 0 for as many as there are.
	Most int
}

// Leads reports whether one of the servers leads the others.
func (t Topology) Leads() bool { return t.Servers > 1 && t.Kind.Leads != nil }

// Elects reports whether the servers find a new leader by themselves.
func (t Topology) Elects() bool { return t.Leads() && t.Kind.Promote == nil }

// Quorum reports whether the servers agree by majority before they answer.
func (t Topology) Quorum() bool { return t.Kind.Quorum }

// Clock reports whether the servers' clocks can be moved.
func (t Topology) Clock() bool { return t.Kind.Clock != nil }

// Kind is what the servers of a topology are.
type Kind struct {
	// Name is the beginning of its hosts' names; "" is no server at all.
	Name string
	// Needs are the programs that must be installed, and Install says how to get
	// them; none where lockbench brings its own.
	Needs   []string
	Install string
	// Make is the make target that installs them, "" for servers. Another one is an install of its own, which nobody has
	// to have who wants others: without it their locks are n/a.
	Make string
	// Image names the container image that has the programs, for labs of containers: NAME, or
	// SHORT=NAME where one that was built here may stand in for it, lockbench/SHORT:debian, or
	// one that the user names in LOCKBENCH_IMAGE_SHORT.
	Image string
	// Software is what a user can change of them.
	Software Software
	// Version is that of its servers.
	Version Version
	// Speaks is what they and their clients say to each other: whoever reads that is told it here. The zero
	// language is one that lockbench can't read.
	Speaks wire.Language
	// Program of one of the hosts, which are in the order of the topology, servers
	// before sentinels.
	Program func(self Host, all []Host) Program
	// Join makes a cluster of the servers at the endpoints, in the order of the topology, when all have been started for
	// the first time; nil where they find each other by themselves.
	Join func(ctx context.Context, endpoints []string) error
	// Durable makes the program wait for the disk before it confirms a write; nil where
	// it does so anyway.
	Durable func(Program) Program
	// Stop is the signal by which its supervisor ends a server in good order, 0 for SIGTERM.
	Stop syscall.Signal
	// Grows: what the servers write needs more and more room on their disks, as a log does.
	Grows bool
	// Quorum: the servers agree by majority before they answer.
	Quorum bool
	// Copied: what a client is told to be written, a replica has written, too.
	Copied bool
	// Lags is how long the servers may take of their own accord to tell of what has happened already.
	Lags time.Duration
	// Forks: a server is several processes, which come and go with its clients.
	Forks bool
	// Monotonic: the servers end leases by a clock that nobody can set, whatever their wall clock says.
	Monotonic bool
	// Apart: a session has no connection of its own, whose end would tell its client.
	Apart bool
	// Leads reports whether the server at the endpoint leads the others; nil where
	// none does.
	Leads func(ctx context.Context, endpoint string) (bool, error)
	// Follows is the endpoint of the server that the one at the endpoint copies, "" for none; nil where all others copy
	// the one that leads.
	Follows func(ctx context.Context, endpoint string) (leader string, err error)
	// Elects is how long they usually take to find a new leader by themselves, 0 for less than a few seconds: until then
	// a lease has to last for a successor to have any say in it.
	Elects time.Duration
	// Promote makes the server at the endpoint the leader, where they do not elect
	// one by themselves.
	Promote func(ctx context.Context, endpoint string) error
	// End ends a session at the servers, and reports whether the one at the endpoint still
	// knew it; nil where they keep none.
	End func(ctx context.Context, endpoint, session string) (knew bool, err error)
	// Counts begins to ask the server at the endpoint for its count of changes; nil where it has none.
	Counts func(endpoint string) (Counting, error)
	// Names is the endpoint of the server that leads, by the name that those who watch have for it: the watcher at
	// the endpoint is asked. Nil for servers.
	Names func(ctx context.Context, endpoint, master string) (leader string, err error)
	// Sweep has the server at the endpoint drop what is over by its clock; nil where nothing that is over can be told
	// from what is gone.
	Sweep func(ctx context.Context, endpoint string) error
	// Keeps asks the server at the endpoint what it keeps for its clients; nil where it can't say.
	Keeps func(ctx context.Context, endpoint string) (Keeps, error)
	// Clock reads the server's wall clock; nil where nobody can move it.
	Clock func(ctx context.Context, endpoint string) (time.Time, error)
	// Replace has the server at the target put a new member in the place of one that is gone,
	// and says how that one is started; nil where an ensemble takes no new members.
	Replace func(ctx context.Context, at Target, gone string) (change func(Program) Program, err error)
	// Commands are what people do to its servers, and how.
	Commands map[Operation]Command
	// Guest is how lockbench is let in by such servers of somebody else's; nil where it can't be.
	Guest *Guest
	// Yardstick is how fast the server at the endpoint is itself; nil where nobody can say.
	Yardstick func(ctx context.Context, endpoint string) (*Yardstick, error)
}

// Version is how to find out the version of some software: a quick command prints it.
type Version struct {
	Of      string
	Command []string
}

// Missing says which program the servers lack on this machine, and how to get it, or
// nil. It wraps ErrMissing.
func (k Kind) Missing() error {
	for _, program := range k.Needs {
		_, err := Resolve([]string{program})
		switch {
		case err == nil:
		case k.Make != "":
			return fmt.Errorf("%w: run 'make %s'", err, k.Make)
		case k.Install == "":
			return err
		default:
			return fmt.Errorf("%w: run 'make servers' or '%s'", err, k.Install)
		}
	}
	return nil
}

// Resolve finds the program of a command on this machine.
func Resolve(argv []string) ([]string, error) {
	if argv[0] == Self {
		return argv, nil
	}
	path, err := exec.LookPath(latest(argv[0]))
	for _, dir := range []string{"/usr/local/sbin", "/usr/sbin", "/sbin"} { // often not in a user's PATH
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, argv[0]))
	}
	if err != nil {
		return nil, fmt.Errorf("%s is %w", latest(argv[0]), ErrMissing)
	}
	return append([]string{path}, argv[1:]...), nil
}

// latest is the last file that a pattern fits, as where a directory is named after a version, or else its name
// without the directory, to be looked for where programs are. Other names stay as they are.
func latest(name string) string {
	if !strings.Contains(name, "*") {
		return name
	}
	if files, err := filepath.Glob(name); err == nil && len(files) > 0 {
		return slices.MaxFunc(files, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	}
	return filepath.Base(name)
}
