package reports

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
)

// pageFile is the page's name in the report directory.
const pageFile = "report.html"

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

//go:embed page.tmpl
var pageTemplate string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"css":      func() template.CSS { return template.CSS(pageCSS) },
	"js":       func() template.JS { return template.JS(pageJS) },
	"svg":      func(s string) template.HTML { return template.HTML(s) },
	"span":     span,
	"plural":   plural,
	"clip":     clip,
	"short":    short,
	"class":    class,
	"anchor":   anchor,
	"outcomes": func() any { return outcomes },
}).Parse(pageTemplate))

// HTML writes report.html, one file that opens offline, and plots/ into the
// report directory dir, and returns the page's path. A cell whose files are
// missing or damaged says so on the page; only the directory's own matrix.json
// or results.json must be readable.
func HTML(dir string) (path string, err error) {
	p, err := Load(dir)
	if err != nil {
		return "", err
	}
	v := newView(p)
	if err := v.addPlots(filepath.Join(dir, "plots")); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := page.Execute(&b, v); err != nil {
		return "", fmt.Errorf("reports: write the page: %w", err)
	}
	path = filepath.Join(dir, pageFile)
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("reports: write the page: %w", err)
	}
	return path, nil
}
