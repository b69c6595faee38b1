package history

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	lb "github.com/lockbench/lockbench"
)

// killedMark ends a line behind which there are only zero bytes: the space that a
// killed recorder had reserved.
var killedMark = []byte{0}

// readLine reads one line, without its end. The last one may have none.
func readLine(in *bufio.Reader) (line []byte, end bool, err error) {
	var long []byte
	for {
		part, err := in.ReadSlice('\n')
		if i := bytes.IndexByte(part, 0); i >= 0 {
			_, rest, _ := bytes.Cut(part[i:], []byte{'\n'})
			if err := onlyZeros(rest, in); err != nil {
				return nil, false, err
			}
			return append(append(long, part[:i]...), killedMark...), true, nil
		}
		switch {
		case err == nil || errors.Is(err, io.EOF):
			if long != nil {
				part = append(long, part...)
			}
			return part, err != nil, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, fmt.Errorf("read: %w", err)
		case len(long) >= maxLine:
			return nil, false, fmt.Errorf("line is longer than %d bytes", maxLine)
		}
		long = append(long, part...)
	}
}

// onlyZeros wants nothing else in the rest of the file. The line in front of it
// may have holes: a process can be killed in the middle of a copy.
func onlyZeros(rest []byte, in *bufio.Reader) error {
	for {
		if len(bytes.Trim(rest, "\x00")) > 0 {
			return errors.New("zero bytes in the middle of the file")
		}
		var err error
		if rest, err = in.ReadSlice(1); errors.Is(err, io.EOF) && len(rest) == 0 {
			return nil
		} else if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("read: %w", err)
		}
	}
}

// words keeps one copy of each text that events repeat, so that a history of
// millions of events does not hold as many copies of a client's name.
type words map[string]string

func (w words) share(ev *lb.Event) {
	for _, s := range []*string{(*string)(&ev.Kind), &ev.Op, &ev.Client, &ev.Lock, &ev.ID, (*string)(&ev.Result),
		&ev.Worker, &ev.Name, &ev.Phase} {
		if *s == "" {
			continue
		}
		known, ok := w[*s]
		if !ok {
			known = *s
			w[known] = known
		}
		*s = known
	}
}
