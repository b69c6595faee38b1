package clock

import (
	"bytes"
	"os"
	"testing"
	"time"
)

func init() { movers["library"] = library }

// TestLibraryStays: the code of the kernel's library is not written over, where a thread may just be.
func TestLibraryStays(t *testing.T) { inChild(t, "library") }

func library() int {
	code := func() []byte {
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			panic(err)
		}
		defer memory.Close()
		entry, err := vdsoEntry(memory, "__vdso_clock_gettime")
		if err != nil {
			panic(err)
		}
		b := make([]byte, 64)
		if _, err := memory.ReadAt(b, entry); err != nil {
			panic(err)
		}
		return b
	}
	before := code()
	if err := Move(time.Hour, 0); err != nil {
		panic(err)
	}
	if !bytes.Equal(before, code()) || Ahead() < 59*time.Minute {
		println("the library was changed, or the clock is not ahead:", Ahead().String())
		return 1
	}
	return 0
}
