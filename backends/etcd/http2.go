package etcd

import (
	"encoding/binary"
	"slices"

	"golang.org/x/net/http2/hpack"

	"github.com/lockbench/lockbench/internal/wire"
)

// preface is what a client of HTTP/2 sends first.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// The frames that matter, and what their flags say.
const (
	frameData, frameHeaders, frameReset, frameSettings, framePromise, frameContinuation = 0, 1, 3, 4, 5, 9

	flagEnds, flagHeadersEnd, flagPadded, flagPriority = 1, 4, 8, 0x20
)

const frameHeader = 9 // length (3 bytes), kind, flags, stream (4)

// http2 reads frames, and of these the calls that clients make.
type http2 struct {
	begun   bool // the preface has passed
	headers [2]headers
	calls   calls
}

func newHTTP2() *http2 {
	h := &http2{calls: calls{}}
	for who := range h.headers {
		h.headers[who].decoder = hpack.NewDecoder(4096, nil)
		h.headers[who].decoder.SetAllowedMaxDynamicTableSize(wire.Longest) // what the other side allows is not read
	}
	return h
}

// headers are those of one side, which come in one or more frames, and whose tables last
// as long as the connection.
type headers struct {
	decoder *hpack.Decoder
	block   []byte
	stream  uint32
	ends    bool // the stream ends with them
}

func (h *http2) Length(who wire.Side, unread []byte) int {
	switch {
	case who == wire.Client && !h.begun:
		if n := min(len(unread), 4); string(unread[:n]) != preface[:n] {
			return wire.Nonsense // another version, or TLS
		}
		return len(preface)
	case !h.begun && len(unread) >= 4 && unread[3] != frameSettings: // of a server that does not wait for its client
		return wire.Nonsense
	case len(unread) < frameHeader:
		return 0
	}
	return frameHeader + int(binary.BigEndian.Uint32(unread)>>8)
}

func (h *http2) Read(who wire.Side, message []byte) ([]wire.Message, wire.Protocol) {
	if who == wire.Client && !h.begun {
		h.begun = true
		if string(message) != preface {
			return nil, wire.Raw{}
		}
		return nil, h
	}
	notes, ok := h.frame(who, frame{message[3], message[4], binary.BigEndian.Uint32(message[5:]) & 0x7fffffff, message[frameHeader:]})
	if !ok {
		return notes, wire.Raw{}
	}
	return notes, h
}

type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

// frame is not ok where it can't be read.
func (h *http2) frame(who wire.Side, f frame) (notes []wire.Message, ok bool) {
	of := &h.headers[who]
	switch f.kind {
	case frameData:
		b, ok := f.content()
		if ok {
			notes, ok = h.calls.data(who, f.stream, b)
		}
		if ok && f.has(flagEnds) {
			notes = append(notes, h.calls.end(who, f.stream)...)
		}
		return notes, ok
	case frameHeaders:
		b, ok := f.content()
		of.stream, of.ends, of.block = f.stream, f.has(flagEnds), slices.Clone(b)
		return h.more(who, f, ok)
	case frameContinuation:
		of.block = append(of.block, f.payload...)
		return h.more(who, f, len(of.block) <= wire.Longest)
	case frameReset:
		if who == wire.Server {
			return h.calls.end(wire.Server, f.stream), true
		}
		delete(h.calls, f.stream)
	case framePromise:
		return nil, false // no gRPC
	}
	return nil, true
}

// more reads headers when the last of them have come.
func (h *http2) more(who wire.Side, f frame, ok bool) (notes []wire.Message, _ bool) {
	if !ok || !f.has(flagHeadersEnd) {
		return nil, ok
	}
	of := &h.headers[who]
	fields, err := of.decoder.DecodeFull(of.block)
	if err != nil {
		return nil, false
	}
	of.block = nil
	if who == wire.Client {
		for _, field := range fields {
			if field.Name == ":path" {
				h.calls.begin(of.stream, field.Value)
			}
		}
	}
	if of.ends {
		notes = h.calls.end(who, of.stream)
	}
	return notes, true
}

// content is the payload without its padding, and without what it says of priorities.
func (f frame) content() (b []byte, ok bool) {
	b = f.payload
	before, behind := 0, 0
	if f.has(flagPadded) {
		if len(b) == 0 {
			return nil, false
		}
		before, behind = 1, int(b[0])
	}
	if f.kind == frameHeaders && f.has(flagPriority) {
		before += 5
	}
	if before+behind > len(b) {
		return nil, false
	}
	return b[before : len(b)-behind], true
}
