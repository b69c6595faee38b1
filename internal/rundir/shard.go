package rundir

import (
	"fmt"
	"strconv"
	"strings"
)

// Elsewhere is the reason of a cell of which another shard does all the runs.
const Elsewhere = "in another shard"

// Shard is the part of a matrix that one of several machines does, from 1. The zero Shard
// is all of it.
type Shard struct{ Nth, Of int }

// ParseShard reads such as 2/3: the second of three.
func ParseShard(s string) (Shard, error) {
	nth, of, cut := strings.Cut(s, "/")
	n, err := strconv.Atoi(nth)
	m, err2 := strconv.Atoi(of)
	if !cut || err != nil || err2 != nil || n < 1 || n > m || m > 10_000 {
		return Shard{}, fmt.Errorf("shard %q is not NTH/OF, such as 1/3, 2/3 and 3/3", s)
	}
	return Shard{n, m}, nil
}

func (s Shard) String() string {
	if s == (Shard{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Nth, s.Of)
}

// Has reports whether the ith part, from 0, is this shard's.
func (s Shard) Has(i int) bool { return s.Of == 0 || i%s.Of == s.Nth-1 }

// MarshalText writes what [ParseShard] reads.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is [ParseShard].
func (s *Shard) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShard(string(text))
	return err
}

// Has reports whether the nth run of the ith cell, from 0, is done here. Cells that go on
// until their interval is narrow are not divided: nobody else's runs could be counted.
func (f *MatrixFile) Has(i, n int) bool {
	if f.Until > 0 {
		return f.Shard.Has(i)
	}
	return f.Shard.Has(i + n)
}

// PlannedOf is how many of the planned runs of the ith cell are to be done here.
func (f *MatrixFile) PlannedOf(i int) (runs int) {
	for n := range f.Planned {
		if f.Has(i, n) {
			runs++
		}
	}
	return runs
}
