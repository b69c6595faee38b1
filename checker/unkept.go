package checker

import (
	"fmt"
	"slices"
	"strings"
)

// Unkept is a claim that a run did not keep. It changes no outcome.
type Unkept struct {
	// Claim is the layer that judges it, "fenced" or "requests".
	Claim string
	// How is what was seen.
	How string
}

const (
	// claimFenced is that the tokens of a lock rise.
	claimFenced = "fenced"
	// claimRequests is what a program says it sends, which every program claims.
	claimRequests = "requests"
)

// Expected reports whether everybody expects it of a lock, and none needs to claim it.
func (u Unkept) Expected() bool {
	return slices.Contains([]string{LayerAnswers, LayerTidy, claimRequests}, u.Claim)
}

// Fence reports whether it is about the lock's tokens.
func (u Unkept) Fence() bool { return u.Claim == claimFenced }

// String tells people of it.
func (u Unkept) String() string {
	if u.Expected() {
		return u.How
	}
	return "claimed, and not kept: " + u.Claim + ": " + u.How
}

// between are the words that stand between a claim and how it was not kept, in files.
const between = ": no: "

// MarshalText implements [encoding.TextMarshaler].
func (u Unkept) MarshalText() ([]byte, error) { return []byte(u.Claim + between + u.How), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (u *Unkept) UnmarshalText(text []byte) (err error) {
	claim, how, ok := strings.Cut(string(text), between)
	if !ok {
		return fmt.Errorf("%q does not say which claim was not kept", text)
	}
	*u = Unkept{claim, how}
	return nil
}
