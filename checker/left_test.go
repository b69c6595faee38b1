package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/testkit/shorthand"
)

// TestLeftBehind: a lock that nobody can have had, and that nobody got, although the lock
// service was well.
func TestLeftBehind(t *testing.T) {
	// A had the lock l up to 20 ms, C asks for it, and B gets and gives back m all the while.
	const had = "planned;gives up;ms;1 c A a;10 r A a ok until=900;"
	const back, asks = "15 C A a;20 R A a ok;", "30 c C c;"
	well := func(from, to int) (text string) {
		for at := from; at < to; at += 20 {
			text += fmt.Sprintf("%d c B m%d lock=m;%d r B m%d ok lock=m;%d C B m%d lock=m;%d R B m%d ok lock=m;", at, at, at+1, at, at+2, at, at+3, at)
		}
		return text
	}
	few := func(from, to int) (text string) {
		for at := from; at < to; at += 110 {
			text += well(at, at+1)
		}
		return text
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nobody has it", had + back + asks + well(100, 1000) + "1000 r C c ok;1010 end",
			"nobody had the lock \"l\" from 0.029 s to 0.999 s, and nobody got it though C waited, while other locks were granted 45 times"},
		{"not for long", had + back + asks + well(100, 500) + "500 r C c ok;1010 end", ""},
		{"its holder has it", had + asks + well(100, 1000) + "1000 r C c ok;1010 end", ""},
		{"what became of the release is not known", had + "15 C A a;20 R A a unknown;" + asks + well(100, 1000) + "1000 r C c ok;1010 end", ""},
		{"somebody may have it and does not know", had + back + "21 c D d;22 r D d unknown;" + asks + well(100, 1000) + "1000 r C c ok;1010 end", ""},
		{"who gave that back", had + back + "21 c D d;22 r D d unknown;23 C D d;24 R D d released;" + asks + well(100, 1000) + "1000 r C c ok;1010 end", "from 0.029 s to 0.999 s"},
		{"whose request may still be on its way", had + back + "21 c D d;22 r D d unknown;23 C D d;24 R D d lost;" + asks + well(100, 1000) + "1000 r C c ok;1010 end", ""},
		{"who gave up in vain", had + back + "21 c D d;22 r D d fail;" + asks + well(100, 1000) + "1000 r C c ok;1010 end", "though C waited"},
		{"the lock service is not well", had + back + asks + well(100, 400) + well(800, 1000) + "1000 r C c ok;1010 end", ""},
		{"few others get anything", had + back + asks + few(100, 1000) + "1000 r C c ok;1010 end", ""},
		{"a fault is in force", had + back + asks + "50 fault cut strike;60 fault cut healed;" + well(100, 1000) + "1000 r C c ok;1010 end", ""},
		{"to the end", had + back + asks + well(100, 1000) + "1010 end", "from 0.029 s to 1.009 s"},
		{"nobody asks", had + back + well(100, 1000) + "1010 end", ""},
		{"one after the other asks", had + back + asks + "400 c E e;" + well(100, 500) + "500 r C c fail;" + well(500, 1000) + "1000 r E e ok;1010 end", "though C and E waited"},
		{"with a pause", had + back + asks + well(100, 500) + "500 r C c fail;502 c E e;" + well(505, 900) + "900 r E e ok;1010 end", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shorthand.Must(tt.text)
			ix, err := history.Of(s.Events)
			if err != nil {
				t.Fatal(err)
			}
			found := LeftBehind(ix, s.Plan)
			if tt.want == "" && len(found) == 0 {
				return
			}
			if len(found) != 1 || tt.want == "" || !strings.Contains(found[0].Sentence, tt.want) {
				t.Errorf("%+v\nwant %q", found, tt.want)
			}
		})
	}
}
