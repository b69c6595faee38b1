package zookeeper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/lockbench/lockbench/lab"
)

// The request by which a session says who it is, as ZooKeeper's protocol has it.
const (
	authRequest = -4 // its number
	authType    = 100
)

// login says who the session is, right behind the client's own first words, by the
// scheme "digest". The client is told nothing of it.
func login(r lab.Relay, client, server net.Conn) (net.Conn, error) {
	as := r.Account()
	if as.User == "" {
		return server, nil
	}
	hello, err := frame(client)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrClientGone, err)
	}
	if _, err := server.Write(append(hello, auth(as.User+":"+as.Password)...)); err != nil {
		return nil, err
	}
	begun, err := frame(server)
	if err != nil {
		return nil, err
	}
	answer, err := frame(server)
	if err != nil { // of a session that is over it says only that
		_, told := client.Write(begun)
		return nil, errors.Join(err, told)
	}
	const number, result = 4, 16 // where they are, behind the length
	if len(answer) < result+4 || int32(binary.BigEndian.Uint32(answer[number:])) != authRequest {
		return nil, errors.New("it answered something else than a login")
	}
	if binary.BigEndian.Uint32(answer[result:]) != 0 {
		return nil, fmt.Errorf("%w: it refused the scheme digest", lab.ErrNotLetIn)
	}
	_, err = client.Write(begun)
	return server, err
}

// frame is a message with its length before it.
func frame(from io.Reader) ([]byte, error) {
	size := make([]byte, 4)
	if _, err := io.ReadFull(from, size); err != nil {
		return nil, err
	}
	const most = 1 << 20
	n := binary.BigEndian.Uint32(size)
	if n > most {
		return nil, fmt.Errorf("a message of %d bytes: is this ZooKeeper?", n)
	}
	whole := append(size, make([]byte, n)...)
	_, err := io.ReadFull(from, whole[4:])
	return whole, err
}

func auth(who string) []byte {
	number, scheme := int32(authRequest), "digest"
	b := binary.BigEndian.AppendUint32(nil, uint32(number))
	b = binary.BigEndian.AppendUint32(b, authType)
	b = binary.BigEndian.AppendUint32(b, 0)
	for _, s := range []string{scheme, who} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}
