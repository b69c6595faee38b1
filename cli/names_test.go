package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/catalog"
)

func self(s string) string { return s }

// TestPick: globs in the order of the list, each item once; what no glob finds may be
// made, or is unknown.
func TestPick(t *testing.T) {
	all := []string{"redis-a", "redis-b", "etcd", "zk"}
	extra := func(name string) (string, error) {
		if strings.Contains(name, "@") {
			return name, nil
		}
		return "", &catalog.UnknownError{What: "lock", Name: name, Known: all}
	}
	for globs, want := range map[string]string{
		"*":                  "redis-a redis-b etcd zk",
		"zk,redis-*":         "zk redis-a redis-b",
		"redis-b,redis-*":    "redis-b redis-a",
		"[e-z]*d":            "etcd",
		"zk@step,zk,zk@step": "zk@step zk",
	} {
		if got, err := pick(globs, all, self, extra); err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v; want %q", globs, got, err, want)
		}
	}
	for globs, want := range map[string]string{
		"redis":    `unknown lock "redis"; did you mean`,
		"zk,mysql": `unknown lock "mysql"; there are redis-a, redis-b, etcd, zk`,
		"re[":      `bad pattern "re["`,
		"":         `unknown lock ""`,
	} {
		_, err := pick(globs, all, self, extra)
		if err == nil || !strings.Contains(err.Error(), want) || codeOf(err) != exitUsage {
			t.Errorf("%q: %v; want %q", globs, err, want)
		}
	}
}

// TestNear: the nearest first.
func TestNear(t *testing.T) {
	if got := near("pause-holdr", []string{"none", "pause-client", "pause-leader", "pause-holder"}); !strings.HasPrefix(got, "; did you mean pause-holder") {
		t.Error(got)
	}
	for pair, want := range map[[2]string]int{{"", "abc"}: 3, {"abc", ""}: 3, {"kitten", "sitting"}: 3, {"etdc", "etcd"}: 2, {"same", "same"}: 0, {"zkk", "zk"}: 1, {"xzk", "zk"}: 1} {
		if got := distance(pair[0], pair[1]); got != want {
			t.Errorf("distance of %q: %d, want %d", pair, got, want)
		}
	}
	if all := []string{"zk", "etcd"}; near("mysql", all) != "; there are zk, etcd" || !slices.Equal(all, []string{"zk", "etcd"}) {
		t.Error(near("mysql", all), all)
	}
}
