package history

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// Read reads a history file, which may be compressed with gzip. A line that makes no
// sense, alone or in the whole, is a *[LineError].
func Read(ctx context.Context, path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	defer f.Close()
	return ReadFrom(ctx, f, path)
}

// ReadFrom is [Read] of a stream; name is used in errors.
func ReadFrom(ctx context.Context, r io.Reader, name string) (*Index, error) {
	var b Builder
	if err := b.read(ctx, r, name); err != nil {
		if errors.Is(err, errEmpty) {
			return nil, &LineError{name, 1, errEmpty}
		}
		return nil, err
	}
	return b.Index()
}

// ReadFiles reads what several recorders wrote as one history. Of those whose files are
// missing it is given the names: what else is missing is their fault, and no error.
func ReadFiles(ctx context.Context, paths, missing []string) (*Index, error) {
	return ClockErrors{}.ReadFiles(ctx, paths, missing)
}

// ReadFiles is the function of that name, with the errors of clocks taken so.
func (e ClockErrors) ReadFiles(ctx context.Context, paths, missing []string) (*Index, error) {
	b := Builder{errs: e}
	for _, name := range missing {
		b.torn = true
		b.ix.Doubts = append(b.ix.Doubts, filepath.Base(name)+" is missing: what its recorder saw is not known")
	}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		err = b.read(ctx, f, path)
		_ = f.Close() // it was only read
		if errors.Is(err, errEmpty) {
			b.torn = true
			b.note("%s: nothing was recorded", filepath.Base(path))
			continue
		}
		if errors.Is(err, errUnknown) {
			b.torn = true
			b.ix.Doubts = append(b.ix.Doubts, filepath.Base(path)+": "+errUnknown.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Index()
}

// Of is the index of events in memory. A *[LineError] gives the line that the event
// would have in a file.
func Of(h Events) (*Index, error) {
	var b Builder
	for i := range h {
		if err := b.Add(&h[i]); err != nil {
			return nil, err
		}
	}
	return b.Index()
}

// errEmpty is a file in which not even the header was finished.
var errEmpty = errors.New("the file is empty; a history begins with " + header[:len(header)-1])

func (b *Builder) note(format string, args ...any) {
	b.ix.Notes = append(b.ix.Notes, fmt.Sprintf(format, args...))
}

// errShort is the end of compressed data that is not the end of what was compressed.
var errShort = errors.New("the compressed file was cut short")

// unpacked tells that end from the end of a file: readers of files take both for the same.
type unpacked struct{ z io.Reader }

func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errShort
	}
	return n, err
}

// Plain is r without the compression that it may have.
func Plain(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(unpacked{z}, 1<<16), nil
}

// read takes all events of a file. A block of lines is parsed while the next is read
// and the one before goes into the index.
func (b *Builder) read(ctx context.Context, r io.Reader, name string) error {
	b.file(name)
	in, err := Plain(r)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	parsers := runtime.GOMAXPROCS(0)
	work, inOrder, free := make(chan *block, parsers+1), make(chan *block, parsers+1), make(chan *block, parsers+3)
	for range cap(free) {
		free <- &block{}
	}
	for range parsers {
		go func() {
			for bl := range work {
				bl.parse()
				close(bl.parsed)
			}
		}()
	}
	go func() {
		defer close(inOrder)
		defer close(work)
		for c := (cutter{in: in, line: 1}); !c.done; {
			bl, ok := receive(ctx, free)
			if !ok {
				return
			}
			c.fill(bl)
			if bl.parsed = make(chan struct{}); !send(ctx, work, bl) || !send(ctx, inOrder, bl) {
				return
			}
		}
	}()
	for {
		bl, ok := receive(ctx, inOrder)
		if !ok {
			return ctx.Err()
		}
		if _, ok := receive(ctx, bl.parsed); !ok && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := b.take(bl, name); err != nil {
			return err
		}
		free <- bl
	}
}

func receive[T any](ctx context.Context, from <-chan T) (v T, ok bool) {
	select {
	case v, ok = <-from:
	case <-ctx.Done():
	}
	return v, ok
}

func send[T any](ctx context.Context, to chan<- T, v T) bool {
	select {
	case to <- v:
		return true
	case <-ctx.Done():
		return false
	}
}

// take puts the events of a block into the index.
func (b *Builder) take(bl *block, name string) error {
	own := &b.clocks[len(b.clocks)-1]
	if bl.line == 1 {
		*own = b.errs.take(bl.clock)
	}
	if own.unknown && bl.err == nil && len(bl.events) > 0 { // else it has nothing to say
		return &LineError{name, 1, errUnknown}
	}
	for i := range bl.events {
		if err := own.shift(&bl.events[i]); err != nil {
			return &LineError{name, int(bl.lines[i]), err}
		}
		if err := b.add(&bl.events[i], bl.lines[i]); err != nil {
			return err
		}
		b.lasts[len(b.lasts)-1] = max(b.lasts[len(b.lasts)-1], bl.events[i].At)
	}
	switch {
	case errors.Is(bl.err, errEmpty):
		return bl.err
	case bl.err != nil:
		return &LineError{name, bl.errLine, bl.err}
	}
	if bl.cut { // no recorder compresses: this is no recorder's end, and what is missing may be anything
		b.torn = true
		b.ix.Doubts = append(b.ix.Doubts, fmt.Sprintf("%s: %v: what came after its line %d is not known", filepath.Base(name), errShort, bl.until))
	}
	if bl.note != "" {
		b.torn = true
		b.cut = append(b.cut, len(b.files)-1)
		b.note("%s: %s", filepath.Base(name), bl.note)
	}
	return b.room()
}
