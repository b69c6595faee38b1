//go:build !linux

package bench

import "os"

// dataSync is the nearest that there is to fdatasync.
func dataSync(f *os.File) error { return f.Sync() }
