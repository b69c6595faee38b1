package postgres

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

// The numbers with which a client says what it wants, where others say the version of the
// protocol.
const (
	wantsCancel = 1234<<16 + 5678
	wantsTLS    = 1234<<16 + 5679
	wantsGSS    = 1234<<16 + 5680
	version     = 3 // in the upper half of the number
)

// The answers to whether the connection becomes an encrypted one, of a byte each.
const encrypts, encryptsByGSS, doesNot = 'S', 'G', 'N'

// hello is what a client says first: its length, what it wants, and what belongs to that.
type hello []byte

const (
	helloSize    = 8     // length, and what is wanted
	longestHello = 10000 // that PostgreSQL takes
)

func (h hello) wants() uint32 { return binary.BigEndian.Uint32(h[4:]) }

// readHello refuses to encrypt what does not leave this machine, and returns what the client
// says then.
func readHello(client io.ReadWriter) (hello, error) {
	for {
		head := make(hello, helloSize)
		if _, err := io.ReadFull(client, head); err != nil {
			return nil, err
		}
		size := binary.BigEndian.Uint32(head)
		if size < helloSize || size > longestHello {
			return nil, fmt.Errorf("its first words have %d bytes", size)
		}
		if wants := head.wants(); wants == wantsTLS || wants == wantsGSS {
			if _, err := client.Write([]byte{doesNot}); err != nil {
				return nil, err
			}
			continue
		}
		whole := append(head, make([]byte, size-helloSize)...)
		if _, err := io.ReadFull(client, whole[helloSize:]); err != nil {
			return nil, err
		}
		if wants := whole.wants(); wants != wantsCancel && wants>>16 != version {
			return nil, errors.New("it does not begin as a client of PostgreSQL does")
		}
		return whole, nil
	}
}

// of is the hello with the account and the database of a user. Everything else is as the client
// wants it.
func (h hello) of(as lab.Account) hello {
	text := func(to []byte, s string) []byte { return append(append(to, s...), 0) }
	words := append(make(hello, 4), h[4:helloSize]...)
	words = text(text(words, "user"), cmp.Or(as.User, lb.Prefix))
	words = text(text(words, "database"), as.Database)
	for rest := []byte(h[helloSize:]); ; {
		name, after, _ := bytes.Cut(rest, []byte{0})
		if len(name) == 0 {
			break
		}
		value, next, _ := bytes.Cut(after, []byte{0})
		if s := string(name); s != "user" && s != "database" {
			words = text(text(words, s), string(value))
		}
		rest = next
	}
	words = append(words, 0)
	binary.BigEndian.PutUint32(words, uint32(len(words)))
	return words
}
