package history

import (
	"slices"
	"testing"
)

// TestSettings: runs of other servers are no samples of the same thing.
func TestSettings(t *testing.T) {
	base := Plan{Algorithm: "a", Fault: "f", ServerImage: "redis=redis:7", Seed: 1}
	other := base
	if other.Seed = 2; base.Same(other) != nil {
		t.Errorf("two runs of a cell differ: %v", base.Same(other))
	}
	other.ServerImage, other.ServerBinary = "redis=redis:8", "redis=/opt/redis-server"
	if got, want := base.Settings(other), []Difference{{"server binary", "none", "redis=/opt/redis-server"}, {"image", "redis=redis:7", "redis=redis:8"}}; !slices.Equal(got, want) || base.Same(other) == nil {
		t.Errorf("they differ in %v, want %v", got, want)
	}
}
