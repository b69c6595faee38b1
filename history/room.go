package history

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/lockbench/lockbench/internal/memory"
)

// ErrTooLarge is a history that this machine has not the memory for.
var ErrTooLarge = errors.New("the history is too large for the memory of this machine")

// room says in time that the memory will not do: afterwards the kernel would end the
// whole process. It is asked now and then.
func (b *Builder) room() error {
	const often = 1 << 20 // events
	if b.count>>20 == b.asked {
		return nil
	}
	b.asked = b.count >> 20
	// Another such piece: its records, and what the index makes of them.
	need := int64(often) * int64(unsafe.Sizeof(record{})+unsafe.Sizeof(Acquisition{}))
	if have := memory.Available(); need > have {
		return fmt.Errorf("%w: %d million events are read, and %d MB are left", ErrTooLarge, b.count>>20, have>>20)
	}
	return nil
}
