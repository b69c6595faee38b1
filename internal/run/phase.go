package run

import (
	"bufio"
	"io"
	"os"
)

// Phases is where a run in its lab says what it is at, a line each: the file descriptor
// that [Perform] is started with.
const Phases = 3

// teller writes a line of at most a pipe's buffer for each phase. Who reads them may be
// gone: then nobody wants to know.
func teller(to io.Writer) func(phase string) {
	return func(phase string) { _, _ = io.WriteString(to, phase+"\n") }
}

// listen tells the phases that come through the pipe. The file that it returns is for the
// process that says them; done is called when that has ended, and returns when all are told.
func listen(tell func(phase string)) (w *os.File, done func(), err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer r.Close()
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			tell(lines.Text())
		}
	}()
	return w, func() { w.Close(); <-ended }, nil
}
