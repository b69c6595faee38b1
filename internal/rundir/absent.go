package rundir

import (
	"fmt"
	"io/fs"
)

// absent is what is to be said of something that is not there.
type absent string

// Absent is an error that matches [fs.ErrNotExist], as the exit code and callers need it, and reads as it is written: what
// should be there has been said, and "file does not exist" after it would only confuse.
func Absent(format string, args ...any) error { return absent(fmt.Sprintf(format, args...)) }

func (a absent) Error() string { return string(a) }

// Is makes it one of [fs.ErrNotExist].
func (absent) Is(target error) bool { return target == fs.ErrNotExist }
