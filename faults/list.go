package faults

import (
	"fmt"
	"strings"
)

// listed are faults as one: they strike one after the other, each once, or as many at a time
// as the plan allows.
func listed(list []Fault) (Fault, error) {
	var names []string
	f := Fault{Family: list[0].Family, Mix: list}
	for _, one := range list {
		switch {
		case one.Repeats:
			return f, fmt.Errorf("%s strikes until the end of the run: it can't stand in a list", one.Name)
		case one.StartsAhead != 0 || one.SharedSession:
			return f, fmt.Errorf("%s is there before the clients are: it can't stand in a list", one.Name)
		}
		names = append(names, one.Name)
		f.MinTTL = max(f.MinTTL, one.MinTTL)
		if f.Prefers == nil {
			f.Prefers = one.Prefers
		}
	}
	f.Name = strings.Join(names, ",")
	f.Doc = fmt.Sprintf("%d faults, one after the other: %s", len(list), strings.Join(names, ", "))
	return f, nil
}
