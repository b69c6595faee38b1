package memory

import (
	"runtime"
	"runtime/debug"
	"testing"
)

const mib = 1 << 20

// TestInUse counts what is taken, and no more what was given back.
func TestInUse(t *testing.T) {
	before := InUse()
	block := make([]byte, 64*mib)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	if taken := InUse() - before; taken < 60*mib || taken > 80*mib {
		t.Errorf("64 MiB count as %d MiB", taken/mib)
	}
	runtime.KeepAlive(block)
	block = nil
	debug.FreeOSMemory()
	if kept := InUse() - before; kept > 16*mib {
		t.Errorf("%d MiB are still counted", kept/mib)
	}
}

// TestLimit of Go's own runtime: GOMEMLIMIT.
func TestLimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(InUse() + 48*mib))
	if free := Available(); free < 32*mib || free > 48*mib {
		t.Errorf("%d MiB of 48 can be had", free/mib)
	}
}
