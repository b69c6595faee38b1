package lab

import (
	"errors"
	"fmt"
)

// ErrNoDisk is a server whose disk can't be filled.
var ErrNoDisk = errors.New("its disk can't be filled")

// FillDisk leaves no room on the server's disk, until it is given back.
func (s *Server) FillDisk() (empty func() error, err error) {
	host, ok := s.host.(Fillable)
	if !ok {
		return nil, fmt.Errorf("%s: %w", s.Name(), ErrNoDisk)
	}
	return host.FillDisk()
}

// Ended reports whether the server's process has ended.
func (s *Server) Ended() bool {
	p, ok := s.process().(*Child)
	if !ok {
		return false
	}
	select {
	case <-p.Done():
		return true
	default:
		return false
	}
}
