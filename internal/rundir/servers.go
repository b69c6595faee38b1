package rundir

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/history"
)

// servers are what tells runs of one cell apart that are no samples of the same thing.
type servers struct {
	ran     bool   // else nothing is known of them
	version string // "" where it is not known
	own     string // the image or the binary that a user chose
}

func serversOf(p history.Plan) servers {
	return servers{true, p.Server(), cmp.Or(p.ServerImage, p.ServerBinary)}
}

// alike reports whether they may be the same.
func (s servers) alike(o servers) bool {
	return !s.ran || !o.ran || s.own == o.own && (s.version == o.version || s.version == "" || o.version == "")
}

// learn completes what is known of them by others that are alike.
func (s *servers) learn(o servers) {
	if !s.ran {
		*s = o
	}
	s.version = cmp.Or(s.version, o.version)
}

// label names the servers of the cell, as far as the algorithm has been run on others, too:
// by their version, if that tells them apart.
func (j *joiner) label(c *joinedCell) {
	var all []servers
	for _, o := range j.cells {
		if o.Algorithm == c.Algorithm && !slices.Contains(all, o.servers) {
			all = append(all, o.servers)
		}
	}
	if len(all) < 2 {
		return
	}
	same := slices.DeleteFunc(all, func(o servers) bool { return o.version != c.servers.version })
	if c.Servers = c.servers.version; len(same) > 1 || c.Servers == "" {
		c.Servers = strings.TrimSpace(c.Servers + " " + cmp.Or(c.servers.own, "as installed"))
	}
}

// beside puts the cells of an algorithm side by side, whatever servers they are of.
func (j *joiner) beside() {
	first := map[string]int{}
	for i, c := range j.cells {
		if _, ok := first[c.Algorithm]; !ok {
			first[c.Algorithm] = i
		}
	}
	slices.SortStableFunc(j.cells, func(a, b *joinedCell) int { return cmp.Compare(first[a.Algorithm], first[b.Algorithm]) })
}

// learn completes what is known of the cells' servers by other runs of the algorithm.
func (j *joiner) learn() {
	for _, c := range j.cells {
		for _, o := range j.cells {
			if o.Algorithm == c.Algorithm && o.servers.alike(c.servers) {
				c.servers.learn(o.servers)
			}
		}
	}
}
