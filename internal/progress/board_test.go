package progress

import (
	"strings"
	"testing"
)

// screen is what a terminal shows of text that moves its cursor as a [Board] does.
func screen(t *testing.T, text string) (lines []string) {
	t.Helper()
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			up := 0
			for rest[0] >= '0' && rest[0] <= '9' {
				up, rest = 10*up+int(rest[0]-'0'), rest[1:]
			}
			if text, ok = strings.CutPrefix(rest, "A\r\x1b[J"); !ok || up > len(lines) {
				t.Fatalf("up %d of %d lines, then %q", up, len(lines), rest)
			}
			lines = lines[:len(lines)-up]
			continue
		}
		line, rest, _ := strings.Cut(text, "\n")
		lines, text = append(lines, line), rest
	}
	return lines
}

// TestBoard: what is said stays, and what is shown is only there once.
func TestBoard(t *testing.T) {
	var out strings.Builder
	b := &Board{w: &out, width: func() int { return 12 }}
	b.Say("first")
	b.Show("1 of 9", "now: α × β, which is long")
	b.Show("2 of 9")
	b.Say("second")
	b.Show("3 of 9", "now: γ")
	if got := strings.Join(screen(t, out.String()), "|"); got != "first|second|3 of 9|now: γ" {
		t.Errorf("%q", got)
	}
	if !strings.Contains(out.String(), "now: α × β…\n") {
		t.Errorf("a line was not cut: %q", out.String())
	}
	b.Close()
	b.Close()
	if got := strings.Join(screen(t, out.String()), "|"); got != "first|second" {
		t.Errorf("closed: %q", got)
	}
}

// TestPlain: what is no terminal gets lines that stay, and no codes.
func TestPlain(t *testing.T) {
	var out strings.Builder
	b := New(&out)
	b.Show("1 of 9")
	b.Say("%d found", 1)
	b.Close()
	if out.String() != "1 found\n" || b.Live() {
		t.Errorf("%q", out.String())
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]int{-1: 0, 0: 0, 0.5: 12, 1: 24, 3: 24} {
		if bar := Bar(share); strings.Count(bar, "#") != want || len(bar) != 26 {
			t.Errorf("%v: %s", share, bar)
		}
	}
}
