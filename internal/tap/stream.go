package tap

import (
	"bytes"
	"slices"
)

// stream is what one end of a connection says, put in order: its segments come some twice, and some
// late.
type stream struct {
	begun       bool
	next        uint32 // the number of the first byte that has not come
	early       map[uint32][]byte
	unconfirmed []part // that the other end has not confirmed
}

// part is what one segment says, by the number behind it, and whether it was sent again.
type part struct {
	end   uint32
	again bool
}

// begin is where the numbers begin.
func (s *stream) begin(number uint32) { s.begun, s.next = true, number+1 }

// confirm notes that all before a number has arrived.
func (s *stream) confirm(next uint32) {
	s.unconfirmed = slices.DeleteFunc(s.unconfirmed, func(p part) bool { return int32(p.end-next) <= 0 })
}

// take takes a segment, and returns the bytes that are in order now. What was there before counts for
// nothing.
func (s *stream) take(number uint32, b []byte) (in []byte) {
	if !s.begun || len(b) == 0 {
		return nil
	}
	if int32(number-s.next) > 0 {
		if len(s.early[number]) < len(b) {
			s.keep(number, b)
		}
		return nil
	}
	if in = s.behind(number, b); len(in) == 0 {
		return nil
	}
	s.said(number, b)
	in = bytes.Clone(in)
	s.next += uint32(len(in))
	for again := true; again; {
		again = false
		for number, b := range s.early {
			if int32(number-s.next) > 0 {
				continue
			}
			delete(s.early, number)
			more := s.behind(number, b)
			in, s.next, again = append(in, more...), s.next+uint32(len(more)), true
		}
	}
	return in
}

func (s *stream) said(number uint32, b []byte) {
	end := number + uint32(len(b))
	if !slices.ContainsFunc(s.unconfirmed, func(p part) bool { return p.end == end }) {
		s.unconfirmed = append(s.unconfirmed, part{end: end})
	}
}

// again is how much of a segment is sent again and was not before: of several parts TCP may make one.
func (s *stream) again(number uint32, b []byte) (n int) {
	for i := range s.unconfirmed {
		p := &s.unconfirmed[i]
		if within := int32(p.end - number); !p.again && within > 0 && within <= int32(len(b)) {
			p.again = true
			n++
		}
	}
	return n
}

// behind are the bytes of a segment that have not come.
func (s *stream) behind(number uint32, b []byte) []byte {
	return b[min(len(b), int(s.next-number)):]
}

func (s *stream) keep(number uint32, b []byte) {
	if s.early == nil {
		s.early = map[uint32][]byte{}
	}
	s.early[number] = bytes.Clone(b)
	s.said(number, b)
}
