// Command claims holds the statements of four surveys of distributed locks against what
// lockbench measures, and writes docs/claims.md; and, with -bugs, the bugs that others have documented, and docs/bugs.md.
//
// The list of statements is data (list/, bugs/): where each stands, what it says, the command that
// tries it, and what of the command's outcome confirms or refutes it. No verdict is written
// down by hand. What the commands gave is kept in docs/claims.json, so that one of them can be
// run again alone, and the page can be made again without any.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := work(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "claims:", err)
		os.Exit(1)
	}
}

func work(ctx context.Context) error {
	program := flag.String("lockbench", "./lockbench", "the program that is run")
	only := flag.String("only", "", "run the commands of these statements only, with commas between them")
	missing := flag.Bool("missing", false, "run only the commands that have no outcome yet")
	offline := flag.Bool("page", false, "run nothing, and make the page of what was recorded")
	dry := flag.Bool("n", false, "print the commands that would be run, each with the first of its statements")
	ofBugs := flag.Bool("bugs", false, "of documented bugs, and not of surveys")
	flag.Parse()

	k := surveys
	if *ofBugs {
		k = bugs
	}
	docs, err := k.load()
	if err != nil {
		return err
	}
	rec, err := readRecord(k.record)
	if err != nil {
		return err
	}
	rec.forget(docs)
	chosen := commands(docs)
	if *only != "" {
		if chosen, err = commandsOf(docs, strings.Split(*only, ",")); err != nil {
			return err
		}
	}
	if *missing {
		chosen = slices.DeleteFunc(chosen, func(c string) bool { return rec.Commands[c] != nil })
	}
	switch {
	case *dry:
		for _, c := range chosen {
			fmt.Printf("%s\t%s\n", firstOf(docs, c), c)
		}
		return nil
	case *offline:
		chosen = nil
	}
	failed := rec.runAll(ctx, *program, k.record, docs, chosen)
	if err := rec.save(k.record); err != nil {
		return err
	}
	if err := os.WriteFile(k.page, []byte(k.pageOf(docs, rec)), 0o644); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return failed
}

// runAll runs the commands one after the other, and saves after each: a command that fails, or
// an interruption, costs nothing of what was done before.
func (r *record) runAll(ctx context.Context, program, file string, docs []document, chosen []string) (failed error) {
	for i, c := range chosen {
		began := time.Now()
		f, err := run(ctx, program, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "[%d of %d] %s: %v\n", i+1, len(chosen), c, err)
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", c, err))
			continue
		}
		f.keep(wanted(docs))
		r.Commands[c] = &ran{Date: began.UTC().Format(time.DateOnly), Seconds: int(time.Since(began).Seconds()), Facts: f}
		fmt.Fprintf(os.Stderr, "[%d of %d] %s: %s\n", i+1, len(chosen), c, time.Since(began).Round(time.Second))
		if err := r.save(file); err != nil {
			return err
		}
	}
	return failed
}
