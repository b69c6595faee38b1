package reports

import (
	"slices"
	"strings"
)

// group is a run of neighbouring rows or columns of the matrix.
type group struct {
	Title string
	Names []string
}

const others = "Others"

// kinship puts names into a group: that of the longest prefix that fits. The groups
// are in the order of the list.
type kinship []struct{ prefix, title string }

// lockKin and faultKin order the matrix. They only sort what is shown: a name that
// nobody foresaw is one of the others.
var (
	lockKin = kinship{
		{"none", "Without a lock"},
		{"redis-", "Redis"}, {"redlock", "Redis"},
		{"zk-", "ZooKeeper"},
		{"etcd-", "etcd"},
		{"mysql-", "MySQL"},
		{"peer-", "Libraries"},
		{"published-", "As published"},
	}
	faultKin = kinship{
		{noFault, ""},
		{"pause", "client"}, {"kill", "client"}, {"client-", "client"}, {"slow-work", "client"},
		{"cut", "network"}, {"lost-", "network"}, {"late-", "network"}, {"lose-", "network"}, {"slow-", "network"},
		{"kill-leader", "server"}, {"kill-two", "server"}, {"kill-server", "server"}, {"pause-leader", "server"}, {"failover", "server"}, {"restart-", "server"}, {"server-", "server"}, {"expire", "server"},
		{"cut-two+", "pairs"},
		{"random", "mixed"},
	}
)

func (k kinship) title(name string) string {
	title, longest := others, 0
	for _, x := range k {
		if n := len(x.prefix); n > longest && strings.HasPrefix(name, x.prefix) {
			title, longest = x.title, n
		}
	}
	return title
}

// groups sorts names by kin, and within each group leaves their order alone.
func (k kinship) groups(names []string) []group {
	var out []group
	for _, x := range append(slices.Clone(k), struct{ prefix, title string }{title: others}) {
		if slices.ContainsFunc(out, func(g group) bool { return g.Title == x.title }) {
			continue
		}
		var in []string
		for _, n := range names {
			if k.title(n) == x.title {
				in = append(in, n)
			}
		}
		if len(in) > 0 {
			out = append(out, group{x.title, in})
		}
	}
	return out
}

func namesOf(groups []group) []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.Names...)
	}
	return out
}
