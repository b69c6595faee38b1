package main

import (
	"cmp"
	"slices"
)

// book is a list of statements, what their commands gave when they were run last, and the page of both.
type book struct {
	list         string // the folder with the list
	page, record string // files
	head         string // of the page
	of           string // what there are so many of
	says         string // the head of the column with what is stated
	section      string // the heading of a document: of its number and its title
	verdicts     []verdict
	words        map[verdict]string // of those that are called otherwise here
}

// word is what a verdict is called.
func (b book) word(v verdict) string { return cmp.Or(b.words[v], string(v)) }

// verdict is what a word stands for.
func (b book) verdict(word string) verdict {
	if i := slices.IndexFunc(b.verdicts, func(v verdict) bool { return b.word(v) == word }); i >= 0 {
		return b.verdicts[i]
	}
	return ""
}

// surveys is docs/claims.md.
var surveys = book{
	list: "list", page: "docs/claims.md", record: "docs/claims.json", of: "statements", says: "what it says", section: "%[1]s: %[2]s",
	verdicts: []verdict{confirmed, refuted, depends, undecided, notRun},
	head: `# What surveys say of distributed locks, and what lockbench measured

Four documents are read here: 000, an overview of locks on Redis, ZooKeeper and etcd; 001, a lock on
etcd with a program in Java; 002, a survey of locks on databases, Redis and ZooKeeper; 004, a page on
ZooKeeper's lock and on why ensembles have an odd number of servers. Each statement that can be
checked has a row: where it stands, what it says in our words, the command, and what came out.

` + "`make claims`" + ` runs the commands and makes this page; ` + "`go run ./internal/claims -only 002-29`" + ` runs
those of some statements. The list is in [internal/claims/list](../internal/claims/list), and what the commands
gave is in [claims.json](claims.json). The verdict is computed from that, by the conditions of the list:

- **confirmed**, **refuted**: what was measured says so. A break refutes a promise of safety with one run; that
  nobody was hurt in so many runs leaves open what is said in brackets (95%).
- **depends**: true in one situation that the statement covers, and false in another.
- **undecided**: the command was run, and its outcome says neither.
- **not run yet**: there is a command, and no outcome of it.
- **by reading**: the document's own listing shows it, and no server has a part in it, so that there is no command.

A cell is *lock × fault: outcome*, as in [cells.md](cells.md); its figure is in how many of so many runs the
lock broke or somebody was hurt, and between which shares that lies. Figures of cost are
medians of rounds with their 95% interval, on servers that wait for the disk unless it says *in memory*. What the documents say of the
locks inside of one Java program is left out: these are no distributed locks.
`,
}

// bugs is docs/bugs.md.
var bugs = book{
	list: "bugs", page: "docs/bugs.md", record: "docs/bugs.json", of: "bugs", says: "what goes wrong", section: "%[2]s",
	verdicts: []verdict{confirmed, refuted, missed, undecided, notRun},
	words:    map[verdict]string{confirmed: "convicted", refuted: "not convicted"},
	head: `# Bugs of distributed locks that people have documented, and what lockbench has for each

Each row is a bug that somebody has found in a lock, in a library or in what a document recommends: where that is told, what
goes wrong in our words, and the command that shows it here, with what came out, or what is missing. A bug is convicted by
a lock that makes the same mistake: the library itself, or another that takes the same step, which the row says, also
where it keeps its lock on another server. Many of the libraries have
mended theirs since; that a row is here says nothing of their newest version.

` + "`make bugs`" + ` runs the commands and makes this page; ` + "`go run ./internal/claims -bugs -only redis-01`" + ` runs
those of some rows. The list is in [internal/claims/bugs](../internal/claims/bugs), and what the commands gave is in
[bugs.json](bugs.json). The verdict is computed from that, by the conditions of the list:

- **convicted**: the command came out as the bug wants it.
- **not convicted**: it came out otherwise.
- **missed**: no command of this list shows it, and the row says what is missing.
- **undecided**: the command was run, and its outcome says neither.
- **not run yet**: there is a command, and no outcome of it.

Reports were read as far as what is said here needs, and many not to their end. The list is what was found by searching
trackers and texts, and no sample of anything: its shares say what lockbench can't show yet, and not how good it is.
`,
}
