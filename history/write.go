package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// Write writes h as one history file.
func Write(path string, h Events) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	if err := errors.Join(WriteTo(f, h), f.Close()); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// WriteTo is [Write] to a stream.
func WriteTo(to io.Writer, h Events) error {
	w := bufio.NewWriterSize(to, 1<<16)
	w.WriteString(header) // errors are kept by w until Flush
	var buf []byte
	for i := range h {
		buf = appendEvent(buf[:0], &h[i])
		w.Write(buf)
	}
	return w.Flush()
}
