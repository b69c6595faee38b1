package kubernetes

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// filled is a directory as shards leave them.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	noise := make([]byte, 5000) // which does not become less when it is packed
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for name, text := range map[string]string{
		"matrix.json": "{}", "cells/a/none/1/plan.json": "{}", "cells/a/none/1/events/w1.jsonl": strings.Repeat("{\"x\":1}\n", 5000) + string(noise),
		"cells/a/none/1/logs/empty.log": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.IsDir() {
			all[name] = "a directory"
			return nil
		}
		text, err := os.ReadFile(path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestThereAndBack(t *testing.T) {
	from, to := filled(t), filepath.Join(t.TempDir(), "to")
	var packed bytes.Buffer
	if err := pack(&packed, from); err != nil {
		t.Fatal(err)
	}
	if err := unpack(&packed, to); err != nil {
		t.Fatal(err)
	}
	want, got := contents(t, from), contents(t, to)
	if len(got) != len(want) {
		t.Errorf("%d files and directories became %d", len(want), len(got))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s became another file", name)
		}
	}
}

// TestCut: wherever it is cut, it is not taken for the whole.
func TestCut(t *testing.T) {
	var packed bytes.Buffer
	if err := pack(&packed, filled(t)); err != nil {
		t.Fatal(err)
	}
	whole := packed.Bytes()
	for n := range whole {
		if n%7 != 0 && n < len(whole)-20 { // all of the last
			continue
		}
		if err := unpack(bytes.NewReader(whole[:n]), filepath.Join(t.TempDir(), "to")); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(whole), err)
		}
	}
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 1
	if err := unpack(bytes.NewReader(damaged), filepath.Join(t.TempDir(), "to")); err == nil {
		t.Error("a sum that is wrong is not seen")
	}
}

// TestVanished: a file that can't be read makes no packet that looks whole.
func TestVanished(t *testing.T) {
	dir := filled(t)
	var packed bytes.Buffer
	err := pack(&failing{&packed, 2000}, dir)
	if err == nil {
		t.Fatal("nothing failed")
	}
	if err := unpack(&packed, filepath.Join(t.TempDir(), "to")); err == nil {
		t.Error("it looks whole")
	}
	if err := pack(io.Discard, filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// failing is a writer that fails after some bytes.
type failing struct {
	io.Writer
	left int
}

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("the line is cut")
	}
	return f.Writer.Write(p)
}

// TestOutside: nothing that a pod sends is written beside the directory, nor through a link.
func TestOutside(t *testing.T) {
	for name, h := range map[string]*tar.Header{
		"above": {Name: "../x", Typeflag: tar.TypeReg, Mode: 0o644}, "absolute": {Name: "/tmp/lockbench-outside", Typeflag: tar.TypeReg, Mode: 0o644},
		"a link": {Name: "x", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}, "a device": {Name: "x", Typeflag: tar.TypeChar},
		"a directory above": {Name: "../../x", Typeflag: tar.TypeDir, Mode: 0o755},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		w := tar.NewWriter(z)
		if err := errors.Join(w.WriteHeader(h), w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "in", "to")
		if err := os.Mkdir(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unpack(&packed, dir); err == nil {
			t.Errorf("%s was taken", name)
		}
		if left := contents(t, filepath.Dir(filepath.Dir(dir))); len(left) != 3 {
			t.Errorf("%s left %v", name, left)
		}
	}
}

// TestFetch: what a pod sends arrives, or the error says why it did not, whoever fails.
func TestFetch(t *testing.T) {
	from := filled(t)
	into := filepath.Join(t.TempDir(), "1")
	send := func(_ context.Context, w io.Writer) error { return pack(w, from) }
	for range 2 { // what an earlier attempt left is in nobody's way
		if err := fetchInto(t.Context(), into, send); err != nil {
			t.Fatal(err)
		}
		if got, want := contents(t, into), contents(t, from); len(got) != len(want) {
			t.Errorf("%v", got)
		}
	}
	gone := errors.New("the pod is gone")
	if err := fetchInto(t.Context(), into, func(_ context.Context, w io.Writer) error {
		_ = pack(&failing{w, 3000}, from)
		return gone
	}); !errors.Is(err, gone) {
		t.Errorf("the pod ended in the middle: %v", err)
	}
	if err := fetchInto(t.Context(), into, func(_ context.Context, w io.Writer) error {
		return pack(&failing{w, 3000}, from)
	}); err == nil || !strings.Contains(err.Error(), "the line is cut") {
		t.Errorf("the line was cut: %v", err)
	}
	// Somebody on the way ended it as if that were all.
	if err := fetchInto(t.Context(), into, func(_ context.Context, w io.Writer) error {
		_ = pack(&failing{w, 3000}, from)
		return nil
	}); !errors.Is(err, errCut) {
		t.Errorf("it ended early: %v", err)
	}
	// Whole, and yet the program in the pod has failed.
	if err := fetchInto(t.Context(), into, func(_ context.Context, w io.Writer) error {
		return errors.Join(pack(w, from), gone)
	}); !errors.Is(err, gone) {
		t.Errorf("it failed at the end: %v", err)
	}
	// The directory can't be made, and whoever sends ends.
	if err := fetchInto(t.Context(), filepath.Join(t.TempDir(), "no", "where"), send); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no room: %v", err)
	}
	// Nothing comes, until somebody has enough.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fetchInto(ctx, into, func(ctx context.Context, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
