package sqlserver

import (
	"slices"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// Option gives a server one more option, by the variable of its environment that has them all.
func Option(p lab.Program, variable, option string) lab.Program {
	all := variable + "="
	p.Env = slices.DeleteFunc(slices.Clone(p.Env), func(v string) bool {
		if strings.HasPrefix(v, variable+"=") {
			all = v + " "
			return true
		}
		return false
	})
	p.Env = append(p.Env, all+option)
	return p
}
