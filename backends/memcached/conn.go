package memcached

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Conn is a connection on which the text protocol is spoken. It sends each request once, and each ends with the
// deadline of its context, which the usual libraries for Go have no place for. After an error other than a [Refusal]
// nobody knows whose the next answer is: the connection is of no use any more.
type Conn struct {
	net.Conn
	in *bufio.Reader
}

// Refusal is what the server answers to a request that it does not carry out.
type Refusal string

func (r Refusal) Error() string { return "memcached says " + string(r) }

// Dial connects to a server.
func Dial(ctx context.Context, endpoint string) (*Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return nil, err
	}
	return newConn(c), nil
}

func newConn(c net.Conn) *Conn { return &Conn{c, bufio.NewReader(c)} }

const (
	newline = "\r\n"
	busy    = "BUSY" // two can't list items at once
)

// Ask sends a request, perhaps with data, each a line, and returns the first line of the answer.
func (c *Conn) Ask(ctx context.Context, request string, data ...string) (string, error) {
	if err := c.send(ctx, request, data...); err != nil {
		return "", err
	}
	return c.line(ctx)
}

func (c *Conn) send(ctx context.Context, request string, data ...string) error {
	end, _ := ctx.Deadline() // none is the zero time
	if err := c.SetDeadline(end); err != nil {
		return err
	}
	_, err := c.Write([]byte(strings.Join(append([]string{request}, data...), newline) + newline))
	return timely(end, err)
}

// line is the next line of an answer.
func (c *Conn) line(ctx context.Context) (string, error) {
	end, _ := ctx.Deadline()
	text, err := c.in.ReadString('\n')
	if err != nil {
		return "", timely(end, err)
	}
	text = strings.TrimRight(text, newline)
	if is, _, _ := strings.Cut(text, " "); strings.HasSuffix(is, "ERROR") || is == busy {
		return "", Refusal(text)
	}
	return text, nil
}

// timely is the error of a request that has taken all its time, as contexts have it.
func timely(end time.Time, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) && time.Until(end) <= 0 {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

// lines are those of an answer of several, up to its END.
func (c *Conn) lines(ctx context.Context, request string) (all []string, err error) {
	line, err := c.Ask(ctx, request)
	for err == nil && line != "END" {
		all = append(all, line)
		line, err = c.line(ctx)
	}
	return all, err
}

// Item is what is stored under a key, with the number that it has for cas.
type Item struct {
	Value string
	Cas   uint64
}

// Gets reads an item; ok is false where there is none.
func (c *Conn) Gets(ctx context.Context, key string) (item Item, ok bool, err error) {
	head, err := c.Ask(ctx, "gets "+key)
	if err != nil || head == "END" {
		return item, false, err
	}
	var name string
	var flags, size int
	if _, err := fmt.Sscanf(head, "VALUE %s %d %d %d", &name, &flags, &size, &item.Cas); err != nil || size < 0 {
		return item, false, fmt.Errorf("answered with %q", head)
	}
	value := make([]byte, size+len(newline))
	if _, err := io.ReadFull(c.in, value); err != nil {
		end, _ := ctx.Deadline()
		return item, false, timely(end, err)
	}
	item.Value = string(value[:size])
	_, err = c.line(ctx) // END
	return item, true, err
}

// Add stores an item that is not there for so many seconds, 0 for ever, and reports whether it was not.
func (c *Conn) Add(ctx context.Context, key, value string, seconds int) (bool, error) {
	return c.done(ctx, "STORED", "NOT_STORED", fmt.Sprintf("add %s 0 %d %d", key, seconds, len(value)), value)
}

// Expire ends an item that still has that number, and reports whether it had. A negative time is over at once.
func (c *Conn) Expire(ctx context.Context, key string, cas uint64) (bool, error) {
	return c.done(ctx, "STORED", "EXISTS NOT_FOUND", "cas "+key+" 0 -1 0 "+strconv.FormatUint(cas, 10), "")
}

// Delete removes an item, and reports whether there was one.
func (c *Conn) Delete(ctx context.Context, key string) (bool, error) {
	return c.done(ctx, "DELETED", "NOT_FOUND", "delete "+key)
}

// done reports whether the answer is yes, and not one of the words in no.
func (c *Conn) done(ctx context.Context, yes, no, request string, data ...string) (bool, error) {
	said, err := c.Ask(ctx, request, data...)
	if err == nil && said != yes && !slices.Contains(strings.Fields(no), said) {
		err = fmt.Errorf("answered with %q", said)
	}
	return said == yes, err
}

// on connects for one use.
func on(ctx context.Context, endpoint string, use func(context.Context, *Conn) error) error {
	c, err := Dial(ctx, endpoint)
	if err != nil {
		return err
	}
	defer c.Close()
	return use(ctx, c)
}
