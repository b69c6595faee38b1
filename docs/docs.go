// Package docs is the manual: the pages of this directory, which lockbench help prints.
package docs

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is one page of the manual.
type Page struct {
	Topic string // the name of its file, without .md
	Title string // its first line
	Text  string // all of it, in Markdown
}

// Pages are all pages, by their topics.
func Pages() (pages []Page) {
	names, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are in the program
	}
	for _, name := range names {
		text, err := files.ReadFile(name.Name())
		if err != nil {
			panic(err)
		}
		title, _, _ := strings.Cut(string(text), "\n")
		pages = append(pages, Page{strings.TrimSuffix(path.Base(name.Name()), ".md"), strings.TrimPrefix(title, "# "), string(text)})
	}
	return pages
}
