package bench

import (
	"os"

	"golang.org/x/sys/unix"
)

// dataSync is fdatasync: what the servers here call.
func dataSync(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
