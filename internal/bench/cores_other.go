//go:build !linux

package bench

import (
	"context"
	"errors"
	"io"
)

// Only Linux says, and is told, where a process runs.
func available() []int                { return nil }
func halves([]int) (one, other []int) { return nil, nil }
func confine([]int) error             { return nil }

// Awake keeps cores from sleeping until ctx ends.
func Awake(context.Context, io.Writer, string) error { return errors.ErrUnsupported }
