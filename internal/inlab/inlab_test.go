package inlab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockbench/lockbench/internal/rundir"
)

type plan struct {
	What string `json:"what"`
}

type news struct {
	N int `json:"n"`
}

// given is the directory of a task, and what it tells is written to.
func given(t *testing.T, text string) (dir string, told *os.File) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, planFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	told, err := os.Create(filepath.Join(dir, toldFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = told.Close() })
	return dir, told
}

// TestTask: all that is told arrives in its order, also what is told last, and by several.
func TestTask(t *testing.T) {
	dir, told := given(t, `{"what":"that"}`)
	var got []int
	first := make(chan int, 1)
	stop := follow(told, func(n news) {
		if got = append(got, n.N); len(got) == 1 {
			first <- n.N
		}
	})
	p, e, err := Receive[plan, news](dir)
	if err != nil || p.What != "that" {
		t.Fatalf("%+v, %v", p, err)
	}
	e.Tell(news{7})
	select {
	case n := <-first:
		if n != 7 {
			t.Errorf("%d", n)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("nothing is told while it goes on")
	}
	var tellers sync.WaitGroup
	for i := range 50 {
		tellers.Go(func() { e.Tell(news{100 + i}) })
	}
	tellers.Wait()
	e.Tell(news{8})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 52 || got[0] != 7 || got[51] != 8 {
		t.Fatalf("%d", got)
	}
	slices.Sort(got)
	for i := range 50 {
		if got[2+i] != 100+i {
			t.Fatalf("%d", got)
		}
	}
}

// TestFollowPieces: a line may come in pieces, and is told of when it is whole.
func TestFollowPieces(t *testing.T) {
	dir, told := given(t, "{}")
	out, err := os.OpenFile(filepath.Join(dir, toldFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	heard := make(chan int, 3)
	stop := follow(told, func(n news) { heard <- n.N })
	fmt.Fprint(out, `{"n":1`)
	time.Sleep(150 * time.Millisecond) // it looks
	fmt.Fprint(out, "2}\n{\"n\":3}\n{\"n")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	close(heard)
	var got []int
	for n := range heard {
		got = append(got, n)
	}
	if !slices.Equal(got, []int{12, 3}) {
		t.Errorf("%d", got)
	}
}

func TestFollowNonsense(t *testing.T) {
	_, told := given(t, "{}")
	if err := os.WriteFile(told.Name(), []byte("{\"n\":1}\nnonsense\n{\"n\":2}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := follow(told, func(news) { n++ })(); err == nil || n != 1 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestReceiveNothing(t *testing.T) {
	if _, _, err := Receive[plan, news](t.TempDir()); !os.IsNotExist(err) {
		t.Errorf("without a plan: %v", err)
	}
	dir, _ := given(t, "{")
	if _, _, err := Receive[plan, news](dir); err == nil {
		t.Error("half a plan is one")
	}
	dir, told := given(t, "{}")
	if err := os.Remove(told.Name()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Receive[plan, news](dir); !os.IsNotExist(err) {
		t.Errorf("with nobody to tell: %v", err)
	}
}

// TestTellFails: what could not be told is told of in the end.
func TestTellFails(t *testing.T) {
	dir, _ := given(t, "{}")
	_, e, err := Receive[plan, func()](dir)
	if err != nil {
		t.Fatal(err)
	}
	e.Tell(func() {})
	if err := e.Close(); err == nil {
		t.Error("a function was told")
	}
}

// TestSweep: what killed ones have left is removed, and nothing that somebody is at.
func TestSweep(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	made := func(age time.Duration) string {
		dir, err := os.MkdirTemp("", "lockbench-sweeps-")
		if err == nil {
			err = os.Chtimes(dir, time.Now().Add(-age), time.Now().Add(-age))
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	left, fresh, held := made(time.Hour), made(0), made(time.Hour)
	defer rundir.Hold(held)()
	sweep("lockbench-sweeps-*")
	for dir, want := range map[string]bool{left: false, fresh: true, held: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %t, want %t", dir, err == nil, want)
		}
	}
}
