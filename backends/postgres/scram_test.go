package postgres

import (
	"errors"
	"testing"

	"github.com/lockbench/lockbench/lab"
)

// The conversation that RFC 7677 has as its example.
const (
	rfcNonce = "rOprNGfwEbeRWgbNEkqO"
	rfcSaid  = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
	rfcLast  = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
	rfcProof = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
)

func TestScram(t *testing.T) {
	s := &scram{user: "user", password: "pencil", nonce: rfcNonce}
	if got := s.first(); got != "n,,n=user,r="+rfcNonce {
		t.Errorf("its first words are %q", got)
	}
	last, err := s.last(rfcSaid)
	if err != nil || string(last) != rfcLast {
		t.Errorf("its last words are %q, %v", last, err)
	}
	if err := s.verify("v=" + "AAAA" + rfcProof[6:]); !errors.Is(err, lab.ErrOther) || s.proven {
		t.Errorf("a server that does not know the password: %v", err)
	}
	if err := s.verify(rfcProof); err != nil || !s.proven {
		t.Errorf("one that does: %v", err)
	}
}

// TestScramRefuses: what a server may not say.
func TestScramRefuses(t *testing.T) {
	for _, said := range []string{
		"", "m=1," + rfcSaid, "r=" + rfcNonce + ",s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
		"r=" + rfcNonce + "x,s=!,i=4096", "r=" + rfcNonce + "x,s=,i=4096", "r=" + rfcNonce + "x,s=W22Z,i=0", "r=" + rfcNonce + "x,s=W22Z,i=1000000000",
	} {
		s := &scram{password: "pencil", nonce: rfcNonce}
		if last, err := s.last(said); !errors.Is(err, lab.ErrOther) {
			t.Errorf("%q: it answers %q, %v", said, last, err)
		}
	}
}

// TestUnproven: who lets us in without a proof is not the server.
func TestUnproven(t *testing.T) {
	q := questions{as: lab.Account{Password: "pencil"}}
	if _, _, err := q.answer([]byte("\x00\x00\x00\x0aSCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00\x00")); err != nil || q.scram == nil {
		t.Fatal(err)
	}
	if _, in, err := q.answer(make([]byte, 4)); in || !errors.Is(err, lab.ErrOther) {
		t.Errorf("it is let in: %v, %v", in, err)
	}
}

// TestNeverAsItIs: the password is not said to where others can read it.
func TestNeverAsItIs(t *testing.T) {
	q := questions{as: lab.Account{Password: "pencil"}}
	if reply, _, err := q.answer([]byte{0, 0, 0, asksPassword}); reply != nil || !errors.Is(err, lab.ErrNotLetIn) {
		t.Errorf("%q, %v", reply, err)
	}
}

func TestPrepared(t *testing.T) {
	for given, want := range map[string]string{
		"pencil": "pencil", "I\u00ADX": "IX", "\u2168": "IX", "\u00AA": "a", "a\u00A0b": "a b", "\u0007": "\u0007", "\xff\xfe": "\xff\xfe", "\u00AD": "\u00AD", "": "",
	} {
		if got := prepared(given); got != want {
			t.Errorf("%q is %q, not %q", given, got, want)
		}
	}
}
