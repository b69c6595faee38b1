package reports

import (
	"slices"

	"github.com/lockbench/lockbench/history"
)

// group is a run of neighbouring rows or columns of the matrix.
type group struct {
	Title string
	Names []string
}

const others = "Others"

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

// byTitle groups names under their titles, in the order in which those appear. What has none is among
// the others, which come last.
func byTitle(names []string, titles map[string]string) (out []group) {
	rest := group{Title: others}
	for _, name := range names {
		title := titles[name]
		i := slices.IndexFunc(out, func(g group) bool { return g.Title == title })
		switch {
		case title == "":
			rest.Names = append(rest.Names, name)
		case i < 0:
			out = append(out, group{title, []string{name}})
		default:
			out[i].Names = append(out[i].Names, name)
		}
	}
	if rest.Names != nil {
		out = append(out, rest)
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
