// Mutate shows what the tests of the checkers are worth. It plants small faults in the
// packages history and checker, one at a time, and wants a test to fail for each.
//
//	go run ./internal/testkit/mutate [-only regexp] [-jobs n]
//
// The faults are in mutants.txt. The source is never touched: the compiler is given the
// copy with the fault in place of the file (go test -overlay).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

func main() {
	list := flag.String("list", "internal/testkit/mutate/mutants.txt", "the faults to plant")
	only := flag.String("only", "", "plant only those whose file and name match this regular expression")
	jobs := flag.Int("jobs", 2, "how many at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := mutate(ctx, *list, *only, *jobs); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func mutate(ctx context.Context, list, only string, jobs int) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := readList(list, ".")
	if err != nil {
		return err
	}
	var mutants []mutant
	for _, m := range all {
		if wanted.MatchString(m.file + " " + m.name) {
			mutants = append(mutants, m)
		}
	}
	if len(mutants) == 0 {
		return errors.New("no such mutant")
	}
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l := lab{dir: dir}
	if err := l.calibrate(ctx); err != nil {
		return err
	}
	return tally(mutants, judgeAll(ctx, l, mutants, jobs))
}

// judgeAll judges so many at a time, and tells of each when it is done.
func judgeAll(ctx context.Context, l lab, mutants []mutant, jobs int) []verdict {
	verdicts := make([]verdict, len(mutants))
	next := make(chan int)
	var wg sync.WaitGroup
	var telling sync.Mutex
	done := 0
	for range max(1, jobs) {
		wg.Go(func() {
			for i := range next {
				start := time.Now()
				verdicts[i] = l.judge(ctx, filepath.Join(l.dir, fmt.Sprint(i)), mutants[i])
				telling.Lock()
				done++
				fmt.Printf("%3d of %d  %4.1f s  %s: %s: %s\n", done, len(mutants), time.Since(start).Seconds(), mutants[i].file, mutants[i].name, verdicts[i])
				telling.Unlock()
			}
		})
	}
	for i := range mutants {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wg.Wait()
	return verdicts
}

// tally sums up. It is an error if a mutant survives that is not declared to be
// equivalent, or if one that is was killed.
func tally(mutants []mutant, verdicts []verdict) error {
	killed, equivalent := 0, 0
	var wrong error
	for i, m := range mutants {
		v := verdicts[i]
		switch {
		case v.err != nil:
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s: %w", m.file, m.name, v.err))
		case v.killer != "" && m.equivalent != "":
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s: is declared equivalent, but %s can tell", m.file, m.name, v.killer))
		case v.killer != "":
			killed++
		case m.equivalent != "":
			equivalent++
		default:
			wrong = errors.Join(wrong, fmt.Errorf("%s: %s: survived", m.file, m.name))
		}
	}
	fmt.Printf("%d of %d killed, %d equivalent\n", killed, len(mutants), equivalent)
	return wrong
}
