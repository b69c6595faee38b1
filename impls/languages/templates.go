package languages

import (
	_ "embed"
	"strings"

	"github.com/lockbench/lockbench/impls/foreign"
	"github.com/lockbench/lockbench/internal/shell"
)

// Templates are what a lock of one's own begins with, a language each. The one in Go is a bench of its
// own, and not a program that lockbench starts.
func Templates() (all []foreign.Template) {
	for _, t := range []struct {
		language, from, to string
		along              []string // files that it needs beside it
		run, next          string
	}{
		{"python", "template.py", "mylock.py", []string{"lockbench.py"}, "./mylock.py", "needs python3 and redis-py"},
		{"node", "template.js", "mylock.js", []string{"lockbench.js"}, "./mylock.js", "needs node and node-redis (Debian's is found with NODE_PATH=/usr/share/nodejs)"},
		{"java", "Template.java", "MyLock.java", []string{"Lockbench.java"}, "java -XX:-UsePerfData -cp . MyLock", "needs a JDK: javac Lockbench.java MyLock.java"},
		{"shell", "template.sh", "mylock.sh", []string{"lockbench.sh"}, "./mylock.sh", "needs redis-cli"},
	} {
		one := foreign.Template{Language: t.language, Files: map[string]string{}, Run: "lockbench run --exec " + shell.Line(t.run), Needs: t.next}
		for _, name := range append(t.along, t.from) {
			text, err := adapters.ReadFile("adapters/" + name)
			if err != nil {
				panic(err) // it is part of the program
			}
			one.Files[strings.ReplaceAll(name, t.from, t.to)] = renamed(string(text), t.from, t.to)
		}
		all = append(all, one)
	}
	return append(all, foreign.Template{Language: "go", Module: true, Needs: "needs Go 1.26",
		Files: map[string]string{"main.go": mylock, "go.mod": "module mylock\n\ngo 1.26.0\n"},
		Run:   "go get . && go run . run --algorithm my-lock --fault pause-holder"})
}

//go:embed golang/mylock/main.go
var mylock string

// renamed is a text that speaks of a file, or its class, by another name.
func renamed(text, from, to string) string {
	stem := func(name string) string { base, _, _ := strings.Cut(name, "."); return base }
	text = strings.ReplaceAll(text, from, to)
	if strings.HasSuffix(from, ".java") {
		text = strings.ReplaceAll(text, stem(from), stem(to))
	}
	return text
}
