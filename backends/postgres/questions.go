package postgres

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	lb "github.com/lockbench/lockbench"

	"github.com/lockbench/lockbench/lab"
)

// How a server asks who somebody is, as PostgreSQL numbers it.
const (
	asksNothing      = 0 // any more: somebody is let in
	asksPassword     = 3
	asksMD5          = 5
	asksSASL         = 10
	asksSASLContinue = 11
	asksSASLFinal    = 12
)

// questions are those of one server.
type questions struct {
	as      lab.Account
	private bool // nobody else can read what is said
	scram   *scram
}

// answer is nil where none is wanted; in says that the server asks no more.
func (q *questions) answer(question []byte) (reply []byte, in bool, err error) {
	if len(question) < 4 {
		return nil, false, fmt.Errorf("%w: a question of %d bytes", lab.ErrOther, len(question))
	}
	kind, rest := binary.BigEndian.Uint32(question), question[4:]
	switch {
	case kind == asksNothing:
		if q.scram != nil && !q.scram.proven {
			return nil, false, fmt.Errorf("%w: it has not proved that it knows the password", lab.ErrOther)
		}
		return nil, true, nil
	case q.as.Password == "":
		return nil, false, fmt.Errorf("%w: it asks for a password", lab.ErrNotLetIn)
	case kind == asksPassword && !q.private:
		return nil, false, fmt.Errorf("%w: it asks for the password as it is, which others could read: use TLS", lab.ErrNotLetIn)
	case kind == asksPassword:
		return append([]byte(q.as.Password), 0), false, nil
	case kind == asksMD5:
		return append([]byte(mixed(q.as, rest)), 0), false, nil
	case kind == asksSASL:
		reply, err = q.begin(rest)
	case kind == asksSASLContinue && q.scram != nil:
		reply, err = q.scram.last(string(rest))
	case kind == asksSASLFinal && q.scram != nil:
		err = q.scram.verify(string(rest))
	default:
		err = fmt.Errorf("%w: it asks in a way (number %d) that lockbench doesn't know; it knows scram-sha-256, md5, and password with TLS", lab.ErrNotLetIn, kind)
	}
	return reply, false, err
}

// begin chooses from what the server offers.
func (q *questions) begin(offers []byte) ([]byte, error) {
	for name := range bytes.SplitSeq(offers, []byte{0}) {
		if string(name) != scramName {
			continue
		}
		q.scram = newScram(q.as.Password)
		first := q.scram.first()
		reply := append([]byte(scramName), 0)
		return append(binary.BigEndian.AppendUint32(reply, uint32(len(first))), first...), nil
	}
	return nil, fmt.Errorf("%w: it wants one of %q, and lockbench knows %s", lab.ErrNotLetIn, bytes.Trim(offers, "\x00"), scramName)
}

// mixed is the password with the account and a salt.
func mixed(as lab.Account, salt []byte) string {
	of := func(text []byte) string {
		sum := md5.Sum(text)
		return hex.EncodeToString(sum[:])
	}
	kept := of([]byte(as.Password + cmp.Or(as.User, lb.Prefix)))
	return "md5" + of(append([]byte(kept), salt...))
}
