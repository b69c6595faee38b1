package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/lockbench/lockbench/internal/clock"
)

// Service is a lock service that is up: the servers of a topology, and those
// that watch them.
type Service struct {
	Servers   []*Server
	Sentinels []*Server

	master  string  // what the Sentinels call it
	virtual string  // the address that moves, "" for none
	primary *Server // has that address
}

// Endpoints are where clients reach the service: every server, or the address that
// moves to the one that leads.
func (s *Service) Endpoints() []string {
	if s.virtual != "" {
		return []string{Endpoint(s.virtual, s.Servers[0].program.Port)}
	}
	return Endpoints(s.Servers)
}

// Master is what the Sentinels call the server that leads.
func (s *Service) Master() string { return s.master }

// Options for starting a service.
type Options struct {
	// Prefix is put before the names of its hosts, where there are several services.
	Prefix string
	// Log opens the log of the named server, to be appended to.
	Log func(name string) (*os.File, error)
	// Longest is the length of the longest lease, for servers that must outwait it.
	Longest time.Duration
	// Disk is a directory, with an absolute path, in which the servers keep their data,
	// durably: what they have confirmed is on the disk. "" leaves data where the lab keeps
	// it, and nobody waits.
	Disk string
	// Stalls has the servers wait for their disks, and lets these stall.
	Stalls bool
	// Clocks gives every server a wall clock that can be moved.
	Clocks bool
}

// StartService brings the topology up on hosts of l and returns when all of its
// servers answer.
func StartService(ctx context.Context, l Lab, t Topology, o Options) (*Service, error) {
	hosts := make([]Host, t.Servers+t.Sentinels)
	if err := together(hosts, func(i int) (err error) {
		name := fmt.Sprintf("%s%d", t.Kind.Name, i+1)
		if i >= t.Servers {
			name = fmt.Sprintf("%s%d", t.Watchers.Name, i+1-t.Servers)
		}
		hosts[i], err = l.Host(ctx, o.Prefix+name, t.Kind.Image)
		return err
	}); err != nil {
		return nil, err
	}
	library := ""
	if o.Clocks && t.Kind.Clock != nil {
		b, err := clock.Library()
		if err != nil {
			return nil, err
		}
		library = string(b)
	}
	var all []*Server
	for i, h := range hosts {
		k := t.Kind
		if i >= t.Servers {
			k = t.Watchers
		}
		p := k.Program(h, hosts)
		if library != "" && k.Clock != nil {
			p = clocked(p, library)
		}
		p.Disk = o.Disk
		if (o.Disk != "" || o.Stalls) && k.Durable != nil {
			p = k.Durable(p)
		}
		server := &Server{host: h, kind: k, program: p, log: o.Log}
		if o.Stalls {
			server.disk = &slowDisk{}
		}
		if t.Delayed {
			server.delay = o.Longest + o.Longest/10
		}
		all = append(all, server)
	}
	s := &Service{Servers: all[:t.Servers], Sentinels: all[t.Servers:], master: t.Master}
	if err := startAll(ctx, s.Servers); err != nil {
		return nil, err
	}
	if t.Kind.Join != nil {
		if err := t.Kind.Join(ctx, Endpoints(s.Servers)); err != nil {
			return nil, err
		}
	}
	if t.Virtual {
		free, ok := l.(Spare)
		if !ok {
			return nil, fmt.Errorf("%s needs an address that moves, and this lab has none", t.Name)
		}
		s.virtual = free.VirtualAddr()
		if err := s.moveTo(all[0]); err != nil {
			return nil, err
		}
	}
	return s, startAll(ctx, s.Sentinels)
}

// startAll starts servers together, because one of a cluster is not ready before
// its peers are.
func startAll(ctx context.Context, servers []*Server) error {
	return together(servers, func(i int) error { return servers[i].start(ctx, servers[i].program) })
}

// together does something to each of them at the same time.
func together[T any](all []T, do func(i int) error) (err error) {
	errs := make(chan error)
	for i := range all {
		go func() { errs <- do(i) }()
	}
	for range all {
		err = errors.Join(err, <-errs)
	}
	return err
}

// Endpoints are the addresses of the servers.
func Endpoints(servers []*Server) (addrs []string) {
	for _, s := range servers {
		addrs = append(addrs, s.Endpoint())
	}
	return addrs
}

// Leader asks the servers which of them leads; a single server leads alone. An old
// leader that was cut off, or has come back, does not know of its successor: who wants the
// successor excepts the old one, by its name; else it is who has the address that clients use,
// or whom the Sentinels name.
func (s *Service) Leader(ctx context.Context, except string) (*Server, error) {
	if len(s.Servers) == 1 {
		return s.Servers[0], nil
	}
	var said error
	var leaders []*Server
	for _, server := range s.Servers {
		if server.kind.Leads == nil {
			return nil, fmt.Errorf("none of the %s servers leads the others", server.Name())
		}
		if except == server.Name() || s.virtual != "" && server != s.primary {
			continue
		}
		leads, err := server.kind.Leads(ctx, server.Endpoint())
		if leads {
			leaders = append(leaders, server)
		}
		said = errors.Join(said, err)
	}
	if len(leaders) == 0 {
		return nil, errors.Join(errors.New("no server says that it leads"), said)
	}
	for _, watches := range s.Sentinels {
		if len(leaders) == 1 || watches.kind.Names == nil {
			break
		}
		named, err := watches.kind.Names(ctx, watches.Endpoint(), s.master)
		if i := slices.IndexFunc(leaders, func(s *Server) bool { return s.Endpoint() == named }); err == nil && i >= 0 {
			return leaders[i], nil
		}
	}
	return leaders[0], nil
}

// Followers are the servers that have what the named one, which leads, tells them: of others it is not known.
func (s *Service) Followers(ctx context.Context, leader string) (all []*Server, err error) {
	at := ""
	for _, server := range s.Servers {
		if server.Name() == leader {
			at = server.Endpoint()
		}
	}
	for _, server := range s.Servers {
		if server.Name() == leader {
			continue
		}
		of := at
		if server.kind.Follows != nil {
			var e error
			if of, e = server.kind.Follows(ctx, server.Endpoint()); e != nil { // it may be down, and another's
				err = errors.Join(err, fmt.Errorf("ask %s whom it follows: %w", server.Name(), e))
				continue
			}
		}
		if of == at {
			all = append(all, server)
		}
	}
	if len(all) == 0 {
		return nil, errors.Join(fmt.Errorf("nobody was found that follows %s", leader), err)
	}
	return all, nil
}

// Promote makes the named server the leader where the servers do not elect one by
// themselves.
func (s *Service) Promote(ctx context.Context, name string) error {
	for _, server := range s.Servers {
		if server.Name() == name && server.kind.Promote != nil {
			return errors.Join(server.kind.Promote(ctx, server.Endpoint()), s.moveTo(server))
		}
	}
	return nil
}

// moveTo moves the virtual address, if there is one, to the server's host.
func (s *Service) moveTo(server *Server) error {
	if s.virtual == "" {
		return nil
	}
	host, ok := server.host.(Mobile)
	if !ok {
		return fmt.Errorf("this lab can't move an address to %s", server.Name())
	}
	if err := host.TakeAddr(s.virtual); err != nil {
		return err
	}
	s.primary = server
	return nil
}
