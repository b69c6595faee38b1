package history

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Server is what the plan's servers are and their version, such as "etcd 3.4.23"; "" where
// that is not known.
func (p Plan) Server() string {
	for _, name := range slices.Sorted(maps.Keys(p.Versions)) {
		switch {
		case strings.Contains(name, "/"): // a module
		case name == "go", name == "revision", name == "modified":
		default:
			return name + " " + ShortVersion(p.Versions[name])
		}
	}
	return ""
}

// ShortVersion is the number in what a program says of its version, or all of it.
func ShortVersion(said string) string { return cmp.Or(number.FindString(said), said) }

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)+[-+.0-9A-Za-z]*`)
