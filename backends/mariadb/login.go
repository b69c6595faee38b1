package mariadb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

// The capabilities that a login has to do with, as MySQL's protocol numbers them.
const (
	canDB      = 1 << 3
	canTLS     = 1 << 11
	canPlugins = 1 << 19
	// What would be said in another way, or behind: attributes of the connection, a proof of any
	// length, the level of zstd.
	unsaid = 1<<20 | 1<<21 | 1<<26
)

// login passes the server's greeting on, and logs in with the client's own words, in
// which the account and the database are replaced: everything that the two agree about
// besides is what the client wants.
func login(r lab.Relay, client, server net.Conn) (net.Conn, error) {
	greeting, _, err := readPacket(server)
	if err != nil {
		return nil, err
	}
	if len(greeting) > 0 && greeting[0] == saysError { // such as too many connections
		return nil, errors.Join(refusal(greeting), writePacket(client, 0, greeting))
	}
	g, err := greet(greeting)
	if err != nil {
		return nil, err
	}
	if err := writePacket(client, 0, g.forClient()); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrClientGone, err)
	}
	words, _, err := readPacket(client)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrClientGone, err)
	}
	const head = 32 // capabilities, longest packet, character set, and nothing
	if len(words) < head {
		return nil, fmt.Errorf("%w: it said too little", lab.ErrClientGone)
	}
	wants := binary.LittleEndian.Uint32(words)&^unsaid | canDB | canPlugins
	number := byte(1)
	if r.TLS() {
		wants |= canTLS
	}
	binary.LittleEndian.PutUint32(words, wants)
	if r.TLS() {
		if g.capabilities&canTLS == 0 {
			return nil, &lab.TLSError{Err: errors.New("the server offers none")}
		}
		if err := writePacket(server, number, words[:head]); err != nil {
			return nil, err
		}
		number++
		if server, err = r.Encrypt(context.Background(), server); err != nil {
			return nil, err
		}
	}
	answer, err := authenticate(r.Account(), g, server, number, words[:head])
	if err != nil {
		return nil, err
	}
	if err := writePacket(client, 2, answer); err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrClientGone, err)
	}
	if answer[0] == saysError {
		return nil, refusal(answer)
	}
	return server, nil
}

// authenticate goes on until the server has decided, and returns what it said then.
func authenticate(as lab.Account, g greeting, server net.Conn, number byte, head []byte) ([]byte, error) {
	proof, err := prove(g.plugin, as, g.salt, server)
	if err != nil {
		return nil, err
	}
	words := append(append(bytes.Clone(head), cmp.Or(as.User, lb.Prefix)...), 0)
	words = append(append(words, byte(len(proof))), proof...)
	words = append(append(words, as.Database...), 0)
	words = append(append(words, g.plugin...), 0)
	if err := writePacket(server, number, words); err != nil {
		return nil, err
	}
	salt := g.salt
	for {
		answer, n, err := readPacket(server)
		switch {
		case err != nil:
			return nil, err
		case len(answer) == 0:
			return nil, errors.New("an empty packet")
		}
		var next []byte
		switch {
		case answer[0] == saysSwitch:
			name, rest, _ := bytes.Cut(answer[1:], []byte{0})
			salt = bytes.TrimRight(rest, "\x00")
			next, err = prove(string(name), as, salt, server)
		case answer[0] == saysMore && len(answer) == 2 && answer[1] == 3: // it knows the password already
			continue
		case answer[0] == saysMore && len(answer) == 2 && answer[1] == 4:
			next, n, err = whole(as, salt, server, n)
		default:
			return answer, nil
		}
		if err == nil {
			err = writePacket(server, n+1, next)
		}
		if err != nil {
			return nil, err
		}
	}
}
