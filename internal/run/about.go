package run

import (
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
)

// about tells people what the plan runs. What the catalogue lacks fails the run
// elsewhere.
func about(c catalog.Catalog, plan history.Plan) *history.About {
	a := &history.About{Program: filepath.Base(os.Args[0])}
	if impl, err := c.Lock(plan.Algorithm); err == nil {
		info := impl.Info()
		a.Algorithm, a.Source, a.Requests, a.Takes = info.Doc, info.Source, info.Requests, info.Takes
		a.Group = c.Groups[info.Name]
	}
	if f, err := c.Fault(plan.Fault); err == nil {
		a.Fault, a.Family, a.Troubles = f.Doc, f.Family, f.Troubles()
		if f.Mix != nil {
			a.Family = history.Several
		}
	}
	return a
}
