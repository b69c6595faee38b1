package serve

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/reports"
)

// page is one that was made.
type page struct {
	content []byte
	tag     string
	stamp   string    // of what it is
	until   time.Time // when it is worth making again, where that goes on
	used    time.Time
}

// pageCache has the pages that were seen last, up to some megabytes.
type pageCache struct {
	mu   sync.Mutex
	made map[string]*page // by name

	// one page is made at a time: what it is made of may be large.
	one sync.Mutex
}

// mostCached is how many bytes of pages are kept beside the one that was seen last.
const mostCached = 64 << 20

// get is the page if it needn't be made anew.
func (c *pageCache) get(e *entry) *page {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, now := c.made[e.Name], time.Now()
	if p == nil || p.stamp != e.stamp && (e.State != running || now.After(p.until)) {
		return nil
	}
	p.used = now
	return p
}

func (c *pageCache) put(name string, p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[name] = p
	for {
		total, oldest := 0, ""
		for name, o := range c.made {
			total += len(o.content)
			if oldest == "" || o.used.Before(c.made[oldest].used) {
				oldest = name
			}
		}
		if total <= mostCached || len(c.made) == 1 {
			return
		}
		delete(c.made, oldest)
	}
}

// page is the page of a directory that holds something: the one that lies there, if nothing
// was written since, and otherwise one that is made for it.
func (s *Server) page(root *os.Root, e *entry) (*page, error) {
	if p := s.pages.get(e); p != nil {
		return p, nil
	}
	s.pages.one.Lock()
	defer s.pages.one.Unlock()
	if p := s.pages.get(e); p != nil { // somebody else wanted it, too
		return p, nil
	}
	start := time.Now()
	p := &page{stamp: e.stamp, used: start}
	content := written(root, e)
	var err error
	if content == nil {
		var b bytes.Buffer
		err = reports.Page(&b, filepath.Join(s.dir, filepath.FromSlash(e.Name)), e.State == running)
		content = b.Bytes()
	}
	if err == nil {
		p.content, p.tag, err = framed(content, barOf(e.Name, e))
	} else {
		p.content, p.tag, err = own(e.Name, "broken", struct{ Name, Error string }{e.Name, err.Error()}, barOf(e.Name, e))
	}
	if err != nil {
		return nil, err
	}
	if e.State == running {
		p.until = time.Now().Add(max(often/2, share*time.Since(start)))
	}
	s.pages.put(e.Name, p)
	return p, nil
}

// written is the page that lies in the directory, nil where it does not show what the
// directory holds now, or where another version made it.
func written(root *os.Root, e *entry) []byte {
	name := rundir.PageFile
	if len(e.Kinds) == 1 && e.Kinds[0] == string(rundir.IsQuorum) {
		name = rundir.QuorumPage
	}
	f, err := openRegular(root, path.Join(e.Name, name))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || e.State != done || !info.ModTime().After(e.last) || info.Size() > mostCached {
		return nil
	}
	content, err := io.ReadAll(f)
	if err != nil || !reports.Current(content) {
		return nil
	}
	return content
}

// show answers with the page of a directory, or with its files where it is none of ours.
func (s *Server) show(w http.ResponseWriter, r *http.Request, root *os.Root, name string) {
	e := s.list.one(name)
	if len(e.Kinds) == 0 || r.URL.Query().Has("files") {
		s.files(w, r, root, e)
		return
	}
	p, err := s.page(root, e)
	if err != nil {
		send(w, r, nil, "", err)
		return
	}
	send(w, r, p.content, p.tag, nil)
}
