package zookeeper

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// endBound is how long the server keeps the session that is to be ended.
const endBound = 2 * time.Second

// end goes on with the session on a connection of its own, as whoever knows its
// password may, and closes it: the way in which tests of ZooKeeper's clients make a session
// expire. The client, whose connection the server closes then, may come back before that,
// which closes this one: so both requests are sent at once, and again until the server says
// that the session is over.
func end(ctx context.Context, endpoint, session string) (knew bool, err error) {
	number, secret, _ := strings.Cut(session, ":")
	id, err := strconv.ParseUint(number, 16, 64)
	if err != nil {
		return false, err
	}
	password, err := hex.DecodeString(secret)
	if err != nil {
		return false, err
	}
	for {
		known, over, err := closeAs(ctx, endpoint, id, password)
		// Of a session that is over the server says so; it hangs up where the client came back.
		knew = knew || known || errors.Is(err, io.EOF)
		if over || ctx.Err() != nil {
			return knew, err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
			return knew, errors.Join(ctx.Err(), err)
		}
	}
}

// closeAs goes on with the session and closes it: it reports whether the server knew the session, and whether it is over.
func closeAs(ctx context.Context, endpoint string, id uint64, password []byte) (knew, over bool, err error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return false, false, err
	}
	defer c.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(end)
	}
	// ConnectRequest: protocol version, last transaction seen, timeout in ms, session, password.
	hello := binary.BigEndian.AppendUint64(make([]byte, 4), 0)
	hello = binary.BigEndian.AppendUint32(hello, uint32(endBound.Milliseconds()))
	hello = binary.BigEndian.AppendUint64(hello, id)
	hello = append(binary.BigEndian.AppendUint32(hello, uint32(len(password))), password...)
	// RequestHeader: number, operation.
	var closeSession int32 = -11
	bye := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1}, uint32(closeSession))
	if _, err := c.Write(append(message(hello), message(bye)...)); err != nil {
		return false, false, err
	}
	// ConnectResponse: protocol version, timeout, which is 0 for a session that is over.
	answer, err := read(c)
	if err != nil || len(answer) < 8 {
		return false, false, err
	}
	if binary.BigEndian.Uint32(answer[4:]) == 0 {
		return false, true, nil
	}
	_, err = read(c)
	return true, err == nil, err
}

// message is a message, preceded by its length.
func message(m []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(m))), m...)
}

func read(c net.Conn) ([]byte, error) {
	var size uint32
	if err := binary.Read(c, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	const most = 1 << 16 // what is read here is some tens of bytes
	if size > most {
		return nil, fmt.Errorf("a message of %d bytes", size)
	}
	m := make([]byte, size)
	_, err := io.ReadFull(c, m)
	return m, err
}
