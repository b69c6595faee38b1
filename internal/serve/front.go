package serve

import (
	"net/http"
	"path/filepath"
)

// most is how many entries the list shows before it is asked for all.
const most = 300

// frontView is what the list shows.
type frontView struct {
	Dir     string
	Entries []*entry
	All     int
	Running int
	Error   string
}

func (s *Server) front(w http.ResponseWriter, r *http.Request) {
	all, err := s.list.entries()
	v := frontView{Dir: filepath.ToSlash(s.dir), Entries: all, All: len(all)}
	if err != nil {
		v.Error = err.Error()
	}
	for _, e := range all {
		if e.State == running {
			v.Running++
		}
	}
	if len(all) > most && !r.URL.Query().Has("all") {
		v.Entries = all[:most]
	}
	page, tag, err := own("lockbench: "+v.Dir, "front", v, bar{Every: often})
	send(w, r, page, tag, err)
}
