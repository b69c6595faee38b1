package reports

import (
	"fmt"

	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/internal/english"
)

// asides are what a cell's outcome does not say: how many of its runs proved nothing,
// and what the algorithm claims and did not keep.
func asides(c *checker.Cell) (list []string) {
	if n := c.Inconclusive; n > 0 && n < c.Runs {
		list = append(list, fmt.Sprintf("%d of %s proved nothing", n, english.Count(c.Runs, "run")))
	}
	for _, claim := range c.Claims {
		list = append(list, claim.String())
	}
	return list
}

func hasAsides(c *checker.Cell) bool { return len(asides(c)) > 0 }
