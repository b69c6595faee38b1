package postgres

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/lockbench/lockbench/lab"
)

// login passes the client's own first words on, in which the account and the database are
// replaced, and answers what the server asks. The client hears that it is let in, without having
// been asked. One that wants another's query to be cancelled says so by a key, and needs no login.
func login(r lab.Relay, client, server net.Conn) (net.Conn, error) {
	words, err := readHello(client)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lab.ErrClientGone, err)
	}
	if r.TLS() {
		if server, err = encrypt(r, server); err != nil {
			return nil, err
		}
	}
	if words.wants() == wantsCancel {
		_, err := server.Write(words)
		return server, err
	}
	if _, err := server.Write(words.of(r.Account())); err != nil {
		return nil, err
	}
	return server, admit(r.Account(), client, server)
}

// encrypt asks whether the server has TLS, and begins it.
func encrypt(r lab.Relay, server net.Conn) (net.Conn, error) {
	ask := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, helloSize), wantsTLS)
	if _, err := server.Write(ask); err != nil {
		return nil, err
	}
	answer := make([]byte, 1) // no more: what follows is encrypted
	if _, err := io.ReadFull(server, answer); err != nil {
		return nil, err
	}
	switch answer[0] {
	case encrypts:
		return r.Encrypt(context.Background(), server)
	case doesNot:
		return nil, &lab.TLSError{Err: errors.New("the server offers none")}
	}
	return nil, fmt.Errorf("%w: asked for TLS it says %q", lab.ErrOther, answer)
}

// admit answers the server's questions, and passes on what else it says until it is ready, or
// refuses.
func admit(as lab.Account, client, server net.Conn) error {
	_, private := server.(*tls.Conn)
	asked := questions{as: as, private: private}
	for in := false; ; {
		m, err := readMessage(server)
		if err != nil {
			return err
		}
		switch m.is() {
		case authentication:
			var reply []byte
			if reply, in, err = asked.answer(m.body()); err != nil {
				return err
			}
			if reply != nil {
				if _, err := server.Write(newMessage(passwordMessage, reply)); err != nil {
					return err
				}
			}
			if !in {
				continue
			}
		case errorResponse, notice, protocolVersion:
		case parameterStatus, cancelKey, readyForQuery:
			if !in {
				return fmt.Errorf("%w: it is ready before it knows who we are", lab.ErrOther)
			}
		default:
			return fmt.Errorf("%w: it says %q", lab.ErrOther, m.is())
		}
		_, gone := client.Write(m)
		switch {
		case m.is() == errorResponse:
			return means(m.refusal())
		case gone != nil:
			return fmt.Errorf("%w: %w", lab.ErrClientGone, gone)
		case m.is() == readyForQuery:
			return nil
		}
	}
}
