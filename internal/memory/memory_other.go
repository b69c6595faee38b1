//go:build !linux

package memory

import "math"

// left is not known here.
func left() int64 { return math.MaxInt64 }
