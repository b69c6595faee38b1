package postgres

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lockbench/lockbench/lab"
)

// The types of a server's messages.
const (
	authentication                                      = 'R'
	errorResponse                                       = 'E'
	readyForQuery                                       = 'Z'
	protocolVersion                                     = 'v' // the newest one that it knows
	cancelKey                                           = 'K' // to cancel a query with
	commandComplete, emptyQueryResponse, portalSuspends = 'C', 'I', 's'
	copyIn, copyOut, copyBoth                           = 'G', 'H', 'W'
	notice, parameterStatus, notification               = 'N', 'S', 'A'

	fromServer = "EZCIsGHWNSARKTDntdcvV123"
)

// The types of a client's messages.
const (
	passwordMessage                        = 'p' // all that it says about who it is
	simpleQuery, functionCall              = 'Q', 'F'
	parse, bind, describe, execute, closes = 'P', 'B', 'D', 'E', 'C'
	syncs, flush                           = 'S', 'H'

	steps, ends, fromClient = "PBDEC", "SH", "PBDECSHQFpdcfX" // also data, and the end
)

// message is one with its type, which is a letter, and its length.
type message []byte

const headSize = 5 // type and length

func (m message) is() byte     { return m[0] }
func (m message) body() []byte { return m[headSize:] }

func newMessage(is byte, body []byte) message {
	return append(binary.BigEndian.AppendUint32([]byte{is}, uint32(len(body)+4)), body...)
}

// readMessage reads one of those that a server says before it is ready.
func readMessage(server io.Reader) (message, error) {
	head := make(message, headSize)
	if _, err := io.ReadFull(server, head); err != nil {
		return nil, err
	}
	const most = 1 << 20
	size := binary.BigEndian.Uint32(head[1:])
	if size < 4 || size > most {
		return nil, fmt.Errorf("%w: a message of %d bytes", lab.ErrOther, size)
	}
	whole := append(head, make([]byte, size-4)...)
	_, err := io.ReadFull(server, whole.body())
	return whole, err
}

// refusal is the error that a message is: fields, each a letter and a text.
func (m message) refusal() error {
	said := &pgconn.PgError{}
	for _, field := range bytes.Split(m.body(), []byte{0}) {
		if len(field) == 0 {
			continue
		}
		switch text := string(field[1:]); field[0] {
		case 'S':
			said.Severity = text
		case 'C':
			said.Code = text
		case 'M':
			said.Message = text
		}
	}
	return said
}
