package english

import (
	"slices"
	"strings"
	"testing"
)

// TestCount: one is one, and the plural is spelled as it is.
func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 servers": Count(0, "server"), "1 server": Count(1, "server"), "2 servers": Count(2, "server"),
		"1 crash": Count(1, "crash"), "2 crashes": Count(2, "crash"), "3 processes": Count(3, "process"),
		"2 tries": Count(2, "try"), "2 replays": Count(2, "replay"), "2 switches": Count(2, "switch"), "2 months": Count(2, "month"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOr: the last of a choice is told apart.
func TestOr(t *testing.T) {
	for want, of := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Or(of); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNear: the nearest first.
func TestNear(t *testing.T) {
	if got := Near("pause-holdr", []string{"none", "pause-client", "pause-leader", "pause-holder"}); !strings.HasPrefix(got, "; did you mean pause-holder") {
		t.Error(got)
	}
	for pair, want := range map[[2]string]int{{"", "abc"}: 3, {"abc", ""}: 3, {"kitten", "sitting"}: 3, {"etdc", "etcd"}: 2, {"same", "same"}: 0, {"zkk", "zk"}: 1, {"xzk", "zk"}: 1} {
		if got := distance(pair[0], pair[1]); got != want {
			t.Errorf("distance of %q: %d, want %d", pair, got, want)
		}
	}
	if all := []string{"zk", "etcd"}; Near("mysql", all) != "; there are zk, etcd" || !slices.Equal(all, []string{"zk", "etcd"}) {
		t.Error(Near("mysql", all), all)
	}
}
