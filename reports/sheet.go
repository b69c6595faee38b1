package reports

import "slices"

// How much fits on the one page of paper for a review, which stands before all else when the page is printed.
const (
	sheetRows = 12
	sheetCols = 14
)

// sheet is that page: what each lock was at its worst in plain words, what it costs, and the matrix
// where it fits.
type sheet struct {
	Locks  []sheetLock
	More   int  // locks that did not fit
	Matrix bool // it fits
	Advice []string
	Ran    []fact
}

type sheetLock struct {
	Name, Says string
	rank
	Price price
}

// Sheet is nil where there is no answer to give: of a single run, or of orders only.
func (v *view) Sheet() *sheet {
	if v.Single || len(v.Standings) == 0 {
		return nil
	}
	s := &sheet{Matrix: len(v.Grid.Rows) <= sheetRows && len(v.Grid.Cols) <= sheetCols}
	for _, group := range v.Standings {
		for _, r := range group.Locks {
			if len(s.Locks) == sheetRows {
				s.More++
				continue
			}
			s.Locks = append(s.Locks, sheetLock{r.Name, r.plainly(), r, v.Price(r.Name)})
		}
	}
	for _, a := range v.Advice[:min(2, len(v.Advice))] { // the third asks for more words
		says := a.sentence()
		if says == "" {
			says = a.nothing()
		}
		s.Advice = append(s.Advice, says)
	}
	if len(v.Unadvised) > 0 {
		s.Advice = append(s.Advice, undying(v.Unadvised))
	}
	for _, f := range v.Facts {
		if slices.Contains([]string{"Run on", "Lab", "Runs a cell", "Machine"}, f.Name) {
			s.Ran = append(s.Ran, f)
		}
	}
	return s
}

// Worst is the outcome at the lock's worst.
func (l sheetLock) Worst() string { return string(l.worst) }
