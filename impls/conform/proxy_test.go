package conform

import (
	"net"
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
)

// TestRefusedStaysRefused: nobody else is given the port of a proxy that refuses. Otherwise a
// client would find the server of another test there, and a lock on it.
func TestRefusedStaysRefused(t *testing.T) {
	p, err := newProxy("127.0.0.1:1", wire.Other)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	p.set(refuses)
	for range 100_000 { // the kernel draws from 28,000 ports, by default
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().String()
		if l.Close(); at == p.addr() {
			t.Fatalf("%s was given to another", at)
		}
	}
	if c, err := net.Dial("tcp", p.addr()); err == nil {
		c.Close()
		t.Error("a proxy that refuses connections has accepted one")
	}
}
