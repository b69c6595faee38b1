package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// types are the files that are not just text. What a browser does not show is saved.
var types = map[string]string{
	".json": "application/json", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png",
	".gz": "application/gzip", ".jsonl": text, ".log": text, ".txt": text, ".csv": text, ".md": text, ".edn": text, ".yaml": text, ".xml": text,
}

const text = "text/plain; charset=utf-8"

// below answers for what lies in the served directory, and never for what does not: links
// that lead out of it are not followed.
func (s *Server) below(w http.ResponseWriter, r *http.Request) {
	wanted := r.PathValue("path")
	name := strings.TrimSuffix(wanted, "/")
	if name == "" {
		http.Redirect(w, r, "/", http.StatusFound)
		return
	}
	missing := func() {
		http.Error(w, "there is no such file in "+s.dir+"; / is the list of what there is", http.StatusNotFound)
	}
	if !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)) || strings.Contains("/"+name, "/.") {
		missing()
		return
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(name))
	switch {
	case err != nil:
		missing()
	case info.IsDir() && wanted == name:
		http.Redirect(w, r, (&url.URL{Path: "/runs/" + name + "/", RawQuery: r.URL.RawQuery}).String(), http.StatusFound)
	case info.IsDir():
		s.show(w, r, root, name)
	case wanted != name:
		missing()
	default:
		file(w, r, root, name)
	}
}

// file answers with a file as it is.
func file(w http.ResponseWriter, r *http.Request, root *os.Root, name string) {
	f, err := openRegular(root, name)
	if err != nil {
		http.Error(w, "it can't be read: "+reason(err), http.StatusForbidden)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		http.Error(w, "it can't be read: "+reason(err), http.StatusForbidden)
		return
	}
	kind, known := types[strings.ToLower(path.Ext(name))]
	if !known {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", filePolicy)
	w.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, info.ModTime().UnixNano(), info.Size()))
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// openRegular opens a file, and waits for nobody: of a pipe, which may lie there as well,
// the other end might never come.
func openRegular(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close(), errors.New("it is no regular file"))
	}
	return f, nil
}

// reason is an error without the path that it is about.
func reason(err error) string {
	var where *fs.PathError
	if errors.As(err, &where) {
		return where.Err.Error()
	}
	return err.Error()
}

// listed is a file in a directory.
type listed struct {
	Name, Path string
	Dir        bool
	Size       int64
	When       time.Time
}

// files answers with a list of what lies in a directory.
func (s *Server) files(w http.ResponseWriter, r *http.Request, root *os.Root, e *entry) {
	v := struct {
		Name, Error string
		Files       []listed
	}{Name: e.Name, Error: e.Error}
	entries, err := fs.ReadDir(root.FS(), e.Name)
	if err != nil {
		v.Error = "It can’t be read: " + reason(err)
	}
	for _, d := range entries {
		name := path.Join(e.Name, d.Name())
		info, err := root.Stat(filepath.FromSlash(name)) // of what a link leads to
		if err == nil && !hidden(d.Name()) && (info.IsDir() || info.Mode().IsRegular()) {
			v.Files = append(v.Files, listed{d.Name(), name, info.IsDir(), info.Size(), info.ModTime()})
		}
	}
	b := barOf(e.Name, e)
	if len(e.Kinds) == 0 {
		v.Error, b.Entry = "", nil // nobody said that it is one of ours
	}
	page, tag, err := own(e.Name, "files", v, b)
	send(w, r, page, tag, err)
}
