// Command words looks for forms that read like a translation (banned.txt) in all that a user
// reads: pages in Markdown, templates, and the texts in the code of the program; and for errors that begin with
// the name of their package, which says nothing to a user. It prints each with its place and what to say instead,
// and ends with 1 if it found one.
package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed banned.txt
var list string

// form is one that is banned, and what to say instead.
type form struct {
	is  *regexp.Regexp
	say string
}

func main() {
	forms, err := read(list)
	var found []string
	if err == nil {
		found, err = lookIn(".", forms)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	for _, f := range found {
		fmt.Println(f)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
}

func read(list string) (forms []form, err error) {
	for line := range strings.Lines(list) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		is, say, ok := strings.Cut(line, " => ")
		if !ok {
			return nil, fmt.Errorf("banned.txt: no => in %q", line)
		}
		r, err := regexp.Compile("(?m)" + strings.ReplaceAll(is, " ", `\s+`))
		if err != nil {
			return nil, fmt.Errorf("banned.txt: %w", err)
		}
		forms = append(forms, form{r, say})
	}
	return forms, nil
}

// lookIn reads every page, template and file of code below dir but tests and what is only theirs.
func lookIn(dir string, forms []form) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "testdata" || name == "runs" || name == "testkit" || path != dir && strings.HasPrefix(name, ".")):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".tmpl"):
			text, err := os.ReadFile(path)
			found = append(found, lookFor(forms, path, string(text), 1)...)
			return err
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			more, err := lookInCode(forms, path)
			found = append(found, more...)
			return err
		}
		return nil
	})
	return found, err
}

// lookInCode reads the strings, and not the comments: no user reads those.
func lookInCode(forms []form, path string) (found []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, at := errorText(n); strings.HasPrefix(text, file.Name.Name+": ") && !named(path, file.Name.Name) {
			found = append(found, fmt.Sprintf("%s:%d: an error begins with its package: say what was tried, and to whom", path, files.Position(at).Line))
		}
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			if text, err := strconv.Unquote(s.Value); err == nil {
				found = append(found, lookFor(forms, path, text, files.Position(s.Pos()).Line)...)
			}
		}
		return true
	})
	return found, nil
}

// errorText is the text of an error that is made there, "" for anything else.
func errorText(n ast.Node) (text string, at token.Pos) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", 0
	}
	f, isMethod := call.Fun.(*ast.SelectorExpr)
	s, isText := call.Args[0].(*ast.BasicLit)
	if !isMethod || !isText || f.Sel.Name != "New" && f.Sel.Name != "Errorf" {
		return "", 0
	}
	text, _ = strconv.Unquote(s.Value) // what is no string begins with no name
	return text, s.Pos()
}

// named are packages whose name tells a reader something: of the servers that a lock runs on, of the
// engine of containers, and of the program.
func named(path, name string) bool {
	return slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "impls") || name == "docker" || name == "lockbench"
}

// lookFor looks in a text that begins in this line of its file.
func lookFor(forms []form, path, text string, line int) (found []string) {
	for _, f := range forms {
		for _, at := range f.is.FindAllStringIndex(text, -1) {
			found = append(found, fmt.Sprintf("%s:%d: %q: say %q", path, line+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], f.say))
		}
	}
	return found
}
