package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/lockbench/lockbench/lab"
)

// member is a server of a cluster, as another knows it.
type member struct {
	id, endpoint string
	flags        []string
	master       string // whose replica it is, "" for a master
	slots        bool   // it has some
}

func (m member) is(flag string) bool { return slices.Contains(m.flags, flag) }

// members are those that the server knows.
func members(ctx context.Context, c *redis.Client) (all []member, err error) {
	text, err := c.ClusterNodes(ctx).Result()
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // id, address, flags, master, …, and slots from the ninth on
		if len(f) < 8 {
			return nil, fmt.Errorf("CLUSTER NODES has the line %q", line)
		}
		at, _, _ := strings.Cut(f[1], "@")
		m := member{id: f[0], endpoint: at, flags: strings.Split(f[2], ","), slots: len(f) > 8}
		if f[3] != "-" {
			m.master = f[3]
		}
		all = append(all, m)
	}
	return all, err
}

// replaceMember has all forget the server that is dead, and a new one follow the master that has no replica left. It waits
// until the dead one is known to be so, and, if it was a master, somebody has its place.
func replaceMember(ctx context.Context, at lab.Target, gone string) (change func(lab.Program) lab.Program, err error) {
	var dead, alone member
	err = ask(at.Endpoint, patient, func(c *redis.Client) error {
		return until(ctx, func() error {
			all, err := members(ctx, c)
			if err == nil {
				dead, alone, err = vacancy(all)
			}
			if err != nil {
				return fmt.Errorf("wait for the others to do without %s: %w", gone, err)
			}
			for _, m := range all {
				if m.id != dead.id {
					if err := ask(m.endpoint, patient, func(c *redis.Client) error { return forget(ctx, c, dead.id) }); err != nil {
						return fmt.Errorf("have %s forget %s: %w", m.endpoint, gone, err)
					}
				}
			}
			return nil
		})
	})
	return func(p lab.Program) lab.Program {
		ready := p.Ready
		p.Ready = func(ctx context.Context, endpoint string) error {
			if err := enlist(ctx, endpoint, at.Endpoint, alone.id); err != nil {
				return err
			}
			return ready(ctx, endpoint)
		}
		return p
	}, err
}

// vacancy is the dead server, without slots, and the master that nobody follows.
func vacancy(all []member) (dead, alone member, err error) {
	followed := map[string]bool{}
	for _, m := range all {
		switch {
		case m.is("fail"):
			dead = m
		case m.master != "":
			followed[m.master] = true
		}
	}
	for _, m := range all {
		if m.slots && !m.is("fail") && !followed[m.id] {
			alone = m
		}
	}
	if dead.id == "" || dead.slots || alone.id == "" {
		err = errors.New("the others have not put another in the place of one that is dead")
	}
	return dead, alone, err
}

// forget has a server forget another, which it may have done before.
func forget(ctx context.Context, c *redis.Client, id string) error {
	err := c.ClusterForget(ctx, id).Err()
	if err != nil && strings.Contains(err.Error(), "Unknown node") {
		return nil
	}
	return err
}

// enlist introduces a server that knows nobody to the one at the address of a cluster, and has it follow the master if it
// has no part in anything. It fails as long as that is not done.
func enlist(ctx context.Context, endpoint, by, master string) error {
	return ask(endpoint, soon, func(c *redis.Client) error {
		all, err := members(ctx, c)
		if err != nil {
			return err
		}
		self := all[slices.IndexFunc(all, func(m member) bool { return m.is("myself") })]
		switch {
		case len(all) == 1:
			host, port, _ := strings.Cut(by, ":")
			return errors.Join(errors.New("it is about to join the cluster"), c.ClusterMeet(ctx, host, port).Err())
		case self.is("master") && !self.slots:
			return errors.Join(errors.New("it is about to follow its master"), c.ClusterReplicate(ctx, master).Err())
		}
		return nil
	})
}
