// Package history is what a history means: it reads and writes the event files that
// docs/history.md describes, refuses those that make no sense, and indexes the rest
// once for everybody who reads one: checkers, the watcher of a running run, pictures
// and importers.
//
// A [Builder] takes events and makes an [Index] of them. [Read], [ReadFrom] and
// [ReadFiles] feed it from files, in parallel and in pieces, so that a history needs
// about a hundred bytes of memory an event; [Of] feeds it from memory. A [Recorder]
// writes, a [Follower] reads what recorders are still writing.
//
// The package judges nothing: which of two holders was wrong is the checkers' work.
package history
