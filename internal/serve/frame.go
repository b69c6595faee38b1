package serve

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/lockbench/lockbench/reports"
)

//go:embed serve.css
var serveCSS string

//go:embed live.js
var liveJS string

//go:embed *.tmpl
var templates embed.FS

// pages are read when one is asked for: most processes of lockbench, such as workers, make none.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"css":  func() template.CSS { return template.CSS(serveCSS) },
		"js":   func() template.JS { return template.JS(liveJS) },
		"path": pathOf,
		"join": func(list []string, sep string) string { return strings.Join(list, sep) },
		"ago":  ago,
		"size": size,
	}).ParseFS(templates, "*.tmpl"))
})

// How often the pages look for news: what goes on, and what may change all the same.
const (
	often  = 2 * time.Second
	seldom = 10 * time.Second
)

// bar is the line above every page.
type bar struct {
	Crumbs []crumb // none on the list
	Entry  *entry  // nil where there is none
	Every  time.Duration
	Tag    string
}

// crumb is one step of the way to a directory.
type crumb struct{ Name, Path string }

// barOf is the bar of the page of a directory.
func barOf(name string, e *entry) bar {
	b := bar{Entry: e, Every: seldom}
	if e != nil && e.State == running {
		b.Every = often
	}
	for i, part := range strings.Split(name, "/") {
		b.Crumbs = append(b.Crumbs, crumb{part, strings.Join(strings.Split(name, "/")[:i+1], "/")})
	}
	return b
}

// EveryMS is after how many milliseconds the script looks for news.
func (b bar) EveryMS() int64 { return b.Every.Milliseconds() }

// framed puts the bar and what follows the news into a page that package reports has begun.
// It returns the page with its tag.
func framed(content []byte, b bar) (page []byte, tag string, err error) {
	head, rest, ok := bytes.Cut(content, []byte("</head>"))
	start, body, ok2 := bytes.Cut(rest, []byte("<body>"))
	if !ok || !ok2 {
		return nil, "", errors.New("the page has no head")
	}
	with := func(b bar) ([]byte, error) {
		var page bytes.Buffer
		page.Write(head)
		err := pages().ExecuteTemplate(&page, "head", nil)
		page.WriteString("</head>")
		page.Write(start)
		page.WriteString("<body>")
		err = errors.Join(err, pages().ExecuteTemplate(&page, "bar", b))
		page.Write(body)
		return page.Bytes(), err
	}
	if page, err = with(b); err == nil {
		b.Tag = tagOf(page)
		page, err = with(b)
	}
	if err != nil {
		return nil, "", err
	}
	return page, b.Tag, nil
}

// own makes a page of ours, of one of our templates.
func own(title, name string, data any, b bar) (page []byte, tag string, err error) {
	var content bytes.Buffer
	if err := reports.Head(&content, title); err != nil {
		return nil, "", err
	}
	if err := pages().ExecuteTemplate(&content, name, data); err != nil {
		return nil, "", err
	}
	content.WriteString("</body>\n</html>\n")
	return framed(content.Bytes(), b)
}

// send answers with a page, or only says that it is the one that is known.
func send(w http.ResponseWriter, r *http.Request, page []byte, tag string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("ETag", tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
}

// pathOf is the path of a page or a file, for a link.
func pathOf(name string) template.URL {
	return template.URL((&url.URL{Path: "/runs/" + name}).EscapedPath())
}

// ago is how long ago something was, in a word or two.
func ago(t time.Time) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := time.Since(t) / unit.length; {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}

// size is a number of bytes, in words.
func size(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	}
	return fmt.Sprintf("%d MB", n/1_000_000)
}
