package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// scramName is the one way of SASL that lockbench knows. A server with TLS offers it beside
// another, which binds the channel.
const scramName = "SCRAM-SHA-256"

// scram proves that the client knows a password, and that the server does, to each other: RFC
// 5802 and 7677.
type scram struct {
	user     string // "" for PostgreSQL, which has heard it before
	password string
	nonce    string
	wants    []byte // the server's proof
	proven   bool   // it has given it
}

func newScram(password string) *scram {
	return &scram{password: prepared(password), nonce: rand.Text()}
}

// unbound says that no channel is bound.
const unbound = "n,,"

func (s *scram) first() string { return unbound + s.bare() }
func (s *scram) bare() string  { return "n=" + s.user + ",r=" + s.nonce }

// last is the client's proof, for what the server has said to its first words.
func (s *scram) last(said string) ([]byte, error) {
	const mostTimes = 1 << 22 // some seconds of work
	nonce, salt, times := "", "", ""
	for _, part := range []struct {
		name string
		to   *string
	}{{"r=", &nonce}, {"s=", &salt}, {"i=", &times}} {
		for one := range strings.SplitSeq(said, ",") {
			if value, ok := strings.CutPrefix(one, part.name); ok {
				*part.to = value
			}
		}
	}
	seed, err := base64.StdEncoding.DecodeString(salt)
	n, e := strconv.Atoi(times)
	switch {
	case err != nil || e != nil || n < 1 || n > mostTimes || len(seed) == 0 || strings.HasPrefix(said, "m="):
		return nil, fmt.Errorf("%w: it says %q", lab.ErrOther, said)
	case !strings.HasPrefix(nonce, s.nonce) || len(nonce) == len(s.nonce):
		return nil, fmt.Errorf("%w: it answers to somebody else", lab.ErrOther)
	}
	salted, err := pbkdf2.Key(sha256.New, s.password, seed, n, sha256.Size)
	if err != nil {
		return nil, err
	}
	words := "c=" + base64.StdEncoding.EncodeToString([]byte(unbound)) + ",r=" + nonce
	all := s.bare() + "," + said + "," + words
	key := signed(salted, "Client Key")
	kept := sha256.Sum256(key)
	proof := make([]byte, len(key))
	subtle.XORBytes(proof, key, signed(kept[:], all))
	s.wants = signed(signed(salted, "Server Key"), all)
	return []byte(words + ",p=" + base64.StdEncoding.EncodeToString(proof)), nil
}

// verify looks at the server's proof.
func (s *scram) verify(said string) error {
	if why, refused := strings.CutPrefix(said, "e="); refused {
		return fmt.Errorf("%w: %s", lab.ErrNotLetIn, why)
	}
	value, _ := strings.CutPrefix(said, "v=")
	value, _, _ = strings.Cut(value, ",")
	proof, err := base64.StdEncoding.DecodeString(value)
	if err != nil || s.wants == nil || !hmac.Equal(proof, s.wants) {
		return fmt.Errorf("%w: it does not know the password itself", lab.ErrOther)
	}
	s.proven = true
	return nil
}

func signed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
