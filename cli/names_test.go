package cli

import (
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
