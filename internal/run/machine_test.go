package run

import (
	"context"
	"regexp"
	"testing"

	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/lab"
)

// TestVersionOfEveryServer: the page says of each server which one it was, also of
// those that print it in a way of their own.
func TestVersionOfEveryServer(t *testing.T) {
	c := catalog.Catalog{Topologies: backends.Topologies(), Labs: []lab.Driver{lab.Local()}}
	for _, top := range c.Topologies {
		if len(top.Kind.Needs) == 0 || top.Kind.Make != "" {
			continue // no server, or one that is a module of this program, or an install of its own
		}
		testkit.Need(t, top.Name, top.Kind.Missing())
		v := versions(t.Context(), c, history.Plan{Topology: top.Name, Lab: c.Labs[0].Name})
		if said := v[top.Kind.Version.Of]; !regexp.MustCompile(`[0-9]+\.[0-9]+`).MatchString(said) {
			t.Errorf("%s: %q is said to be %q; all versions: %v", top.Name, top.Kind.Version.Of, said, v)
		}
	}
}

// TestVersionOfEachImage: one process may ask two images.
func TestVersionOfEachImage(t *testing.T) {
	driver := lab.Driver{Name: "paper", Foreign: true, Ask: func(_ context.Context, k lab.Kind, _ []string) ([]byte, error) {
		return []byte("redis-server " + k.Image + "\n"), nil
	}}
	c := catalog.Catalog{Topologies: backends.Topologies(), Labs: []lab.Driver{driver}}
	for _, image := range []string{"redis:7", "redis:8"} {
		v := versions(t.Context(), c, history.Plan{Topology: "redis", Lab: driver.Name, ServerImage: "redis=" + image})
		if got, want := v["redis-server"], "redis-server "+image; got != want {
			t.Errorf("of %s the version is %q", image, got)
		}
	}
}

// TestVersionOfABinary: a number in the path of a user's server is none of its version.
func TestVersionOfABinary(t *testing.T) {
	driver := lab.Driver{Name: "paper", Foreign: true, Ask: func(_ context.Context, _ lab.Kind, command []string) ([]byte, error) {
		return []byte(command[0] + "  Ver 11.8.9-MariaDB\n"), nil
	}}
	c := catalog.Catalog{Topologies: backends.Topologies(), Labs: []lab.Driver{driver}}
	v := versions(t.Context(), c, history.Plan{Topology: "mariadb", Lab: driver.Name, ServerBinary: "mariadb=/opt/v10.2/mariadbd"})
	if got, want := v["mariadbd"], "mariadbd  Ver 11.8.9-MariaDB"; got != want {
		t.Errorf("the version is %q, want %q", got, want)
	}
}
