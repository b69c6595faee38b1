package facts

import (
	"fmt"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/published"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestQuestions asks all of them, of real servers. What is known of these servers must come out, and
// a fact that nobody expects is one that nobody looked at.
func TestQuestions(t *testing.T) {
	want := map[string]map[string]bool{
		"zookeeper-nodes": {"persistent-stays": true, "ephemeral-ends": true, "ephemeral-has-no-children": true, "a-megabyte-at-most": true, "empty-container-goes": true},
		// Since ZooKeeper leaves a count as it is that would become smaller.
		"zookeeper-counter": {"the-last-number-is-followed": false, "a-number-is-given-once": false, "numbers-grow": true},
		"zookeeper-observer": {"there-are-three-roles": true, "leader-reads-are-new": true, "follower-reads-are-new": false, "observer-reads-are-new": false,
			"observer-asks-the-leader": false, "two-voters-go-on": true, "one-voter-goes-on": false},
		"mariadb-index":       {},
		"mariadb-connections": {"waiters-use-up-connections": true, "other-locks-are-refused-too": true},
		"mariadb-mutual":      {"one-key-one-owner": false, "they-go-on-copying": false, "outlives-one-of-two": true},
		"etcd-counts":         {"store-begins-at-zero": false, "key-begins-at-one": true, "has-the-api-of-v2": false},
		"etcd-waiting":        {"unrenewed-waiter-gets-the-lock": false, "renewed-waiter-gets-the-lock": true, "next-is-gone-means-mine": false},
		"file":                {"one-of-many-makes-it": true, "goes-with-its-maker": false},
		"listings-zookeeper":  {"timed-try-of-002-tells-whether": false, "refused-try-of-004-leaves-nothing": false},
	}
	for _, kind := range []string{"unique", "plain", "no"} {
		for _, rows := range sizes {
			of := fmt.Sprintf("%s-index-of-%d-rows", kind, rows)
			want["mariadb-index"][of+"-is-used"] = kind != "no"
			want["mariadb-index"][of+"-leaves-other-locks-alone"] = kind != "no"
			want["mariadb-index"][of+"-lets-others-add-rows"] = kind == "unique"
		}
	}
	// Whether one read of three hundred was too old is chance, where it can be.
	const chance = "-reads-are-new"
	locks := func(name string) (lb.Impl, error) {
		for _, l := range []lb.Impl{published.ZKDistributedLock(), published.ZKImproveLock()} {
			if l.Info().Name == name {
				return l, nil
			}
		}
		return nil, fmt.Errorf("no lock %q", name)
	}
	for _, q := range Questions() {
		t.Run(q.Name, func(t *testing.T) {
			t.Parallel()
			testkit.Share(t, labtest.Places(q.Topology))
			a, err := q.Ask(t.Context(), labtest.ServersOf(t, q.Topology), locks, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			expected, ok := want[q.Name]
			if !ok || len(a.Facts) != len(expected) {
				t.Errorf("%d facts, %d are known", len(a.Facts), len(expected))
			}
			for _, f := range a.Facts {
				holds, known := expected[f.Name]
				if !known {
					t.Errorf("nobody looked at %s", f.Name)
				} else if f.Holds != holds && (holds || !strings.HasSuffix(f.Name, chance)) {
					t.Errorf("%s: %v: %s", f.Name, f.Holds, f.Saw)
				}
			}
		})
	}
}
