package reports

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/history"
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

// lockKin orders the rows. It only sorts what is shown: a name that nobody foresaw is one of
// the others.
var lockKin = kinship{
	{"none", "Without a lock"},
	{"redis-", "Redis"}, {"redlock", "Redis"},
	{"zk-", "ZooKeeper"},
	{"etcd-", "etcd"},
	{"mysql-", "MySQL"},
	{"postgres-", "PostgreSQL"},
	{"peer-", "Libraries"},
	{"published-", "As published"}, {"shell-", "As published"},
}

// familyTitles are what is said above the faults of a family.
var familyTitles = map[history.Family]string{history.Nothing: "", history.Clients: "client", history.Network: "network",
	history.Clocks: "clock", history.Servers: "server", history.Several: "one after the other"}

// byFamily groups faults by what they strike, and within each group leaves their order alone.
func byFamily(faults []string, of map[string]history.Family) (out []group) {
	for _, family := range append(history.Families(), "") {
		title, known := familyTitles[family]
		if !known {
			title = others
		}
		var in []string
		for _, f := range faults {
			if of[f] == family {
				in = append(in, f)
			}
		}
		if in != nil {
			out = append(out, group{title, in})
		}
	}
	return out
}

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

// titleOf is that of the group in which a name is.
func titleOf(groups []group, name string) string {
	i := slices.IndexFunc(groups, func(g group) bool { return slices.Contains(g.Names, name) })
	return groups[i].Title
}

func namesOf(groups []group) []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.Names...)
	}
	return out
}
