package docs_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/cli/stock"
)

var cellRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\| ([A-Z]+) \\|$")

// TestChoosing: what the page rests its advice on is what the locks are declared to be.
func TestChoosing(t *testing.T) {
	text, err := os.ReadFile("choosing.md")
	if err != nil {
		t.Fatal(err)
	}
	c := stock.Catalog()
	rows := cellRow.FindAllStringSubmatch(string(text), -1)
	if len(rows) < 25 {
		t.Fatalf("%d cells", len(rows))
	}
	for _, r := range rows {
		lock, err := c.Lock(r[1])
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := c.Fault(r[2]); err != nil {
			t.Error(err)
		}
		e := lock.Info().Expected(r[2])
		if e == nil || !slices.Contains(e.Outcomes, lb.Outcome(r[3])) {
			t.Errorf("%s under %s: the page says %s, declared is %+v", r[1], r[2], r[3], e)
		}
	}
}
