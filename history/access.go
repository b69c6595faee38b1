package history

import (
	"cmp"
	"fmt"
	"slices"
)

// accessError is an access whose number is there twice.
type accessError struct{ a *Access }

func (e *accessError) Error() string { return fmt.Sprintf("the store has two accesses %d", e.a.Seq) }

// orderAccesses puts them in the order in which the store served them.
func (ix *Index) orderAccesses() error {
	bySeq := func(a, b Access) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.At, b.At), cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	}
	if !slices.IsSortedFunc(ix.Accesses, bySeq) {
		slices.SortFunc(ix.Accesses, bySeq)
	}
	for i := 1; i < len(ix.Accesses); i++ {
		if ix.Accesses[i].Seq == ix.Accesses[i-1].Seq {
			return &accessError{&ix.Accesses[i]}
		}
	}
	return nil
}
