// Package rundir owns the directories that lockbench leaves: nobody else knows the
// names of the files in them. A run is
//
//	plan.json     all that judging needs beside the history
//	events/       the history, a file for each recorder
//	logs/         what the processes printed
//	results.json  what the checkers made of it
//	failed.json   why the bench failed, if it did
//	report.html   the page; that of a matrix or a benchmark has plots/ beside it
//
// and a matrix is matrix.json, which names every planned cell from the start, with
// the runs below cells/ (and those that came to no end and were run anew below aside/).
// A benchmark is
//
//	bench.json    the plan and all that was measured
//	bench.txt     the same in Go's benchmark format
//	logs/         what the processes printed
//
// and may lie in the directory of a matrix of the same locks. An exploration is
//
//	explored.json  the plan, what was walked, and what broke the lock
//	violations/    the orders that did: runs, with schedule.json beside the plan
//
// and that of several locks, or in the directory of a matrix, lies below explored/. Each of the files may be
// compressed with gzip. The names are
// such that artifact stores and every system take them.
//
// A directory can be read while a run goes on, after it was cut short, and where
// nothing can be written. The package judges nothing.
package rundir

import "fmt"

const (
	planFile   = "plan.json"
	resultFile = "results.json"
	matrixFile = "matrix.json"
	eventsDir  = "events"
	eventsExt  = ".jsonl"
	logsDir    = "logs"
	logExt     = ".log"
	failedFile = "failed.json"
	cellsDir   = "cells"
	asideDir   = "aside" // runs that came to no end and were run anew
	// incomingDir is there only while shards are collected.
	incomingDir = "incoming"
	gz          = ".gz"
	// oldHistory is the merged history of directories that have no events.
	oldHistory = "history.jsonl"
	benchFile  = "bench.json"
	dataDir    = "data"
)

// What the reports write into a directory.
const (
	PageFile   = "report.html"
	PlotsDir   = "plots"
	DrawnDir   = "porcupine"
	QuorumFile = "quorum.json"
	QuorumPage = "quorum.html"
	FactsFile  = "facts.json"
	BenchText  = "bench.txt"
)

// The recorders beside the workers.
const (
	Runner = "runner"
	Store  = "store"
)

// Worker names the nth worker process, and its recorder, from 1.
func Worker(n int) string { return fmt.Sprint("w", n) }
