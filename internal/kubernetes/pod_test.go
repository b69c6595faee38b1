package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// served runs a pod's program in a home of its own.
func served(t *testing.T, ctx context.Context, work func(ctx context.Context, dir string) error) (home string, out *bytes.Buffer, ended chan error) {
	t.Helper()
	home, out, ended = t.TempDir(), &bytes.Buffer{}, make(chan error, 1)
	go func() { ended <- Serve(ctx, home, out, work) }()
	return home, out, ended
}

func ends(t *testing.T, ended chan error) error {
	t.Helper()
	select {
	case err := <-ended:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the pod goes on")
	}
	return nil
}

// TestServe: a pod keeps what its shard has left until somebody says that they have it.
func TestServe(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	home, out, ended := served(t, t.Context(), func(_ context.Context, dir string) error {
		defer close(done)
		return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "matrix.json"), []byte("{}"), 0o644))
	})
	<-done
	select {
	case err := <-ended:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(1200 * time.Millisecond): // it looks more than twice
	}
	to := filepath.Join(t.TempDir(), "1")
	var packed bytes.Buffer
	if err := errors.Join(HandOver(home, &packed), unpack(&packed, to)); err != nil {
		t.Fatal(err)
	}
	if got := contents(t, to); got["matrix.json"] != "{}" || len(got) != 2 {
		t.Errorf("it handed over %v", got)
	}
	if err := errors.Join(End(home, collected), ends(t, ended)); err != nil {
		t.Error(err)
	}
	if out.String() != `{"waits":true}`+"\n" {
		t.Errorf("it printed %q", out)
	}
	if err := End(home, "nonsense"); err == nil {
		t.Error("it may end as nonsense")
	}
}

// TestServeDamaged: a shard that never arrives whole has its pod fail, so that another begins.
func TestServeDamaged(t *testing.T) {
	t.Parallel()
	home, _, ended := served(t, t.Context(), func(context.Context, string) error { return nil })
	if err := errors.Join(End(home, damaged)); err != nil {
		t.Fatal(err)
	}
	if err := ends(t, ended); !errors.Is(err, ErrDamaged) {
		t.Errorf("it ended with %v", err)
	}
}

// TestServeTwice: the pod of a shard that has arrived from another does no more of it, and ends
// well.
func TestServeTwice(t *testing.T) {
	t.Parallel()
	home, out, ended := served(t, t.Context(), func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	})
	if err := errors.Join(End(home, collected), ends(t, ended)); err != nil || out.Len() > 0 {
		t.Errorf("%v, and printed %q", err, out)
	}
}

// TestServeInterrupted: a pod that is told to end says so, at work and while it waits.
func TestServeInterrupted(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(ctx context.Context, dir string) error{
		"at work": func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() },
		"waiting": func(context.Context, string) error { return nil },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		_, _, ended := served(t, ctx, work)
		cancel()
		if err := ends(t, ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := errors.New("no room")
	_, out, ended := served(t, t.Context(), func(context.Context, string) error { return wrong })
	if err := ends(t, ended); !errors.Is(err, wrong) || out.Len() > 0 {
		t.Errorf("work that failed: %v, and printed %q", err, out)
	}
}

func TestIndex(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "41": 41, "": -1, "x": -1, "-1": -1} {
		t.Setenv("JOB_COMPLETION_INDEX", text)
		n, err := Index()
		if (err != nil) != (want < 0) || err == nil && n != want {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if err != nil && !strings.Contains(err.Error(), "Indexed Job") {
			t.Error(err)
		}
	}
}
