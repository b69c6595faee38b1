// Package docs is the manual: the pages of this directory, which lockbench help prints.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.md findings/*.md
var files embed.FS

// Page is one page of the manual.
type Page struct {
	Topic string // the path of its file, without .md
	Title string // its first line
	Text  string // all of it, in Markdown
}

// Part tells whether it is a part of another page, which lists it: a finding.
func (p Page) Part() bool { return strings.Contains(p.Topic, "/") }

// Pages are all pages, by their topics.
func Pages() (pages []Page) {
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		title, _, _ := strings.Cut(string(text), "\n")
		pages = append(pages, Page{strings.TrimSuffix(path, ".md"), strings.TrimPrefix(title, "# "), string(text)})
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return pages
}
