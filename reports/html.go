package reports

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lockbench/lockbench/internal/cost"
	"github.com/lockbench/lockbench/internal/rundir"
)

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

//go:embed *.tmpl
var templates embed.FS

var pages = template.Must(template.New("").Funcs(template.FuncMap{
	"css":      func() template.CSS { return template.CSS(pageCSS) },
	"js":       func() template.JS { return template.JS(pageJS) },
	"svg":      func(s string) template.HTML { return template.HTML(s) },
	"join":     func(list []string) string { return strings.Join(list, ", ") },
	"dots":     func(n int) []struct{} { return make([]struct{}, n) },
	"inc":      func(n int) int { return n + 1 },
	"span":     span,
	"plural":   plural,
	"clip":     clip,
	"short":    short,
	"class":    class,
	"kind":     outcomeClass,
	"anchor":   anchor,
	"asides":   asides,
	"title":    title,
	"word":     word,
	"differs":  differs,
	"outcomes": func() any { return outcomes },
	"hazards":  func() any { return mechanisms },
}).ParseFS(templates, "*.tmpl"))

// HTML writes the page of the report directory dir, one file that opens offline,
// and returns its path: report.html, beside plots/, for a matrix, a run or a benchmark,
// and quorum.html for a study of quorums. A study or a benchmark that lies in the directory
// of a matrix stands on its page. A cell whose files are missing or damaged says so on
// the page; only the directory's own file must be readable.
func HTML(dir string) (path string, err error) { return write([]string{dir}, "", false) }

// HTMLTo is [HTML] into the file out, with the plots beside it, for a directory that
// can't or shall not be written to.
func HTMLTo(dir, out string) (path string, err error) { return write([]string{dir}, out, false) }

// Brief is [HTML] without what takes long, the pictures and the plots, for somebody
// who has interrupted the runs and waits.
func Brief(dir string) (path string, err error) { return write([]string{dir}, "", true) }

// Joined writes one page of the runs and matrices in several directories, see
// [rundir.Join], into the file out, with the plots beside it. One of them may be a study
// of quorums, and one a benchmark.
func Joined(dirs []string, out string) (path string, err error) { return write(dirs, out, false) }

// write is [Joined], also of one directory; where out is empty, the page is written into
// that.
func write(dirs []string, out string, brief bool) (path string, err error) {
	study, in, dirs, studyErr := quorumIn(dirs)
	if len(dirs) == 0 && studyErr == nil {
		return writePage(cmp.Or(out, filepath.Join(in, rundir.QuorumPage)), "quorum-page", newQuorumView(study))
	}
	bench, at, dirs, benchErr := benchIn(dirs)
	if len(dirs) == 0 && benchErr == nil {
		if studyErr == nil && in != at {
			return "", fmt.Errorf("reports: %s and %s hold no runs: make a page of each", in, at)
		}
		return writeBench(bench, cmp.Or(out, filepath.Join(at, rundir.PageFile)), brief)
	}
	p, err := load(dirs)
	if err != nil {
		return "", worthTelling(err, benchErr, studyErr)
	}
	v := newView(p, brief)
	switch {
	case studyErr == nil:
		v.Quorum = newQuorumView(study)
	case !errors.Is(studyErr, fs.ErrNotExist):
		v.QuorumError = studyErr.Error()
	}
	switch {
	case benchErr == nil:
		v.Cost = newBenchView(bench)
	case !errors.Is(benchErr, fs.ErrNotExist):
		v.CostError = benchErr.Error()
	}
	out = cmp.Or(out, filepath.Join(dirs[0], rundir.PageFile))
	if !brief {
		if err := v.addPlots(filepath.Join(filepath.Dir(out), rundir.PlotsDir), bench); err != nil {
			return "", err
		}
	}
	return writePage(out, "page", v)
}

// worthTelling is the error of directories without runs: rather what is wrong with what
// else is there.
func worthTelling(err error, others ...error) error {
	for _, other := range others {
		if errors.Is(err, fs.ErrNotExist) && other != nil && !errors.Is(other, fs.ErrNotExist) {
			return other
		}
	}
	return err
}

// addPlots writes the plots into plots, and puts them on the page.
func (v *view) addPlots(plots string, bench *cost.Bench) (err error) {
	if f, ok := outageFigure(v.Grid); ok {
		if v.Plots, err = writePlots(plots, []figure{f}); err != nil {
			return err
		}
	}
	if bench != nil {
		v.Cost.Plots, err = writePlots(plots, benchFigures(bench))
	}
	return err
}

func writePage(path, name string, data any) (string, error) {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("reports: write the page: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("reports: write the page: %w", err)
	}
	return path, nil
}
