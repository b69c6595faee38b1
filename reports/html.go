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
	"sync"

	"github.com/lockbench/lockbench/internal/rundir"

	"github.com/lockbench/lockbench/internal/english"
)

//go:embed *.tmpl
var templates embed.FS

// What pages look like and do, a file for each part of them.
//
//go:embed style script
var parts embed.FS

// pages are read when one is asked for: most processes of lockbench, such as workers, make none.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"css":       func() template.CSS { return template.CSS(joined("style")) },
		"js":        func() template.JS { return template.JS(joined("script")) },
		"svg":       func(s string) template.HTML { return template.HTML(s) },
		"join":      func(list []string) string { return strings.Join(list, ", ") },
		"dots":      func(n int) []struct{} { return make([]struct{}, n) },
		"inc":       func(n int) int { return n + 1 },
		"span":      span,
		"count":     english.Count[int],
		"clip":      clip,
		"short":     short,
		"class":     class,
		"kind":      outcomeClass,
		"anchor":    anchor,
		"lock":      anchorOfLock,
		"mechanism": howShort,
		"below":     below,
		"violated":  violated,
		"amount":    inUnit,
		"interval":  interval,
		"factor":    factor,
		"figure":    figureName,
		"p":         pText,
		"asides":    asides,
		"title":     title,
		"word":      word,
		"differs":   differs,
		"outcomes":  func() any { return outcomes },
		"hazards":   func() any { return mechanisms },
	}).ParseFS(templates, "*.tmpl"))
})

// joined is the parts in a folder, one after the other in the order of their names.
func joined(folder string) string {
	files, err := fs.ReadDir(parts, folder)
	var b strings.Builder
	for _, f := range files {
		text, e := fs.ReadFile(parts, folder+"/"+f.Name())
		err = errors.Join(err, e)
		b.Write(text)
	}
	if err != nil {
		panic(err) // they are part of the program
	}
	return b.String()
}

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
// of quorums; benchmarks stand side by side.
func Joined(dirs []string, out string) (path string, err error) { return write(dirs, out, false) }

// write is [Joined], also of one directory; where out is empty, the page is written into
// that.
func write(dirs []string, out string, brief bool) (path string, err error) {
	c, err := compose(dirs, out, "", brief)
	if err != nil {
		return "", err
	}
	return writePage(c.path, c.template, c.data)
}

// composed is a page that is to be written.
type composed struct {
	path, template string
	data           any
}

// compose makes the page that [write] writes, with the plots in their directory: where
// that is empty, beside the page.
func compose(dirs []string, out, plots string, brief bool) (*composed, error) {
	beside := func() string { return cmp.Or(plots, filepath.Join(filepath.Dir(out), rundir.PlotsDir)) }
	study, in, dirs, studyErr := quorumIn(dirs)
	if len(dirs) == 0 && studyErr == nil {
		return &composed{cmp.Or(out, filepath.Join(in, rundir.QuorumPage)), "quorum-page", newQuorumView(study)}, nil
	}
	benches, dirs, benchErr := benchesIn(dirs)
	if len(dirs) == 0 && benchErr == nil {
		at := benches[0].dir
		if studyErr == nil && !lies(benches, in) {
			return nil, fmt.Errorf("%s and %s hold no runs: make a page of each", in, at)
		}
		out = cmp.Or(out, filepath.Join(at, rundir.PageFile))
		v, err := newBenchPage(benches, beside(), brief)
		return &composed{out, "bench-page", v}, err
	}
	p, err := load(dirs)
	if err != nil {
		return nil, worthTelling(err, benchErr, studyErr)
	}
	out = cmp.Or(out, filepath.Join(dirs[0], rundir.PageFile))
	v := newView(p, firstOf(benches), place{filepath.Dir(out), plots != ""}, brief)
	switch {
	case studyErr == nil:
		v.Quorum = newQuorumView(study)
	case !errors.Is(studyErr, fs.ErrNotExist):
		v.QuorumError = studyErr.Error()
	}
	v.addCost(benches, benchErr)
	if !brief {
		if err := v.addPlots(beside(), benches); err != nil {
			return nil, err
		}
	}
	return &composed{out, "page", v}, nil
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
func (v *view) addPlots(plots string, benches []namedBench) (err error) {
	if !v.Single {
		if err := drawMatrixInto(plots, v.Grid); err != nil {
			return err
		}
	}
	if f, ok := outageFigure(v.Grid); ok && !v.OnlyOrders {
		if v.Plots, err = writePlots(plots, []figure{f}); err != nil {
			return err
		}
	}
	if v.Cost != nil {
		err = v.Cost.addPlots(plots, benches)
	}
	return err
}

func writePage(path, name string, data any) (string, error) {
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("write the page: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("write the page: %w", err)
	}
	return path, nil
}
