package languages

import (
	_ "embed"
	"strings"

	"github.com/lockbench/lockbench/impls/foreign"
)

// Templates are what a lock of one's own begins with, a language each. The one in Go is a bench of its
// own, and not a program that lockbench starts.
func Templates() (all []foreign.Template) {
	for _, t := range []struct {
		language, from, to string
		along              []string // files that it needs beside it
		needs, build, exec string
	}{
		{"python", "template.py", "mylock.py", []string{"lockbench.py"}, "python3 and redis-py", "", "./mylock.py"},
		{"node", "template.js", "mylock.js", []string{"lockbench.js"}, "node and node-redis (Debian's is found with NODE_PATH=/usr/share/nodejs)", "", "./mylock.js"},
		{"java", "Template.java", "MyLock.java", []string{"Lockbench.java"}, "a JDK", "javac Lockbench.java MyLock.java", "java -XX:-UsePerfData -cp . MyLock"},
		{"shell", "template.sh", "mylock.sh", []string{"lockbench.sh"}, "redis-cli", "", "./mylock.sh"},
	} {
		one := foreign.Template{Language: t.language, Files: map[string]string{}, Needs: t.needs, Build: t.build, Exec: t.exec}
		for _, name := range append(t.along, t.from) {
			text, err := adapters.ReadFile("adapters/" + name)
			if err != nil {
				panic(err) // it is part of the program
			}
			one.Files[strings.ReplaceAll(name, t.from, t.to)] = renamed(string(text), t.from, t.to)
		}
		all = append(all, one)
	}
	return append(all, foreign.Template{Language: "go", Module: true, Needs: "Go 1.26",
		Files: map[string]string{"main.go": mylock, "go.mod": "module mylock\n\ngo 1.26.0\n"},
		Build: "go get .", Run: "go run . run --algorithm my-lock --fault pause-holder"})
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
