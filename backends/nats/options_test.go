package nats

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/lab"
	"github.com/nats-io/nats.go"
)

// TestOptions: settings of one block stand together, since NATS forgets the first of two blocks.
func TestOptions(t *testing.T) {
	p := lab.Program{Files: map[string]string{configuration: "# begin\n"}}
	first := p.Files[configuration]
	for _, o := range [][2]string{{"jetstream.max_file_store", "1GB"}, {"max_connections", "10"}, {"jetstream.max_memory_store", "2GB"}} {
		p = configured(p, o[0], o[1])
	}
	p = durable(p)
	want := "# begin\njetstream {\n  max_file_store: 1GB\n  max_memory_store: 2GB\n  sync_interval: always\n}\nmax_connections: 10\n"
	if got := p.Files[configuration]; got != want || first != "# begin\n" {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestNoEffect: only what is refused before anything is written had no effect for certain.
func TestNoEffect(t *testing.T) {
	const storeFailed = 10077
	for err, want := range map[error]bool{
		&Refusal{Code: 10071}: true, &Refusal{Code: 10164}: true, nats.ErrNoResponders: true, fmt.Errorf("%w: so", errNoConnection): true,
		&Refusal{Code: storeFailed}: false, nats.ErrConnectionClosed: false, errLost: false, errors.New("any"): false,
	} {
		if got := NoEffect(err); got != want {
			t.Errorf("%v: %t", err, got)
		}
	}
}
