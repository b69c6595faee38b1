package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// images is the one table of what runs in containers, by kind. A program asks
// for a kind; any other name is taken as the image itself.
var images = map[string]string{
	"etcd":      "quay.io/coreos/etcd:v3.6.5",
	"mariadb":   "mariadb:11",
	"redis":     "redis:7",
	"zookeeper": "zookeeper:3.9",
}

// builtImage is what docker/build.sh makes of a kind.
func builtImage(kind string) string { return "lockbench/" + kind + ":debian" }

// override is the environment variable that replaces a kind's image.
func override(kind string) string { return "LOCKBENCH_IMAGE_" + strings.ToUpper(kind) }

// errAbsent: the engine does not have the image.
var errAbsent = errors.New("the image is not on this engine")

// resolve finds the image that the engine has for a kind, or for an image's own
// name: what the environment names, else the default, else the one built here.
// If it has none, the result is the name to pull, with errAbsent.
//
// A built image goes before a pull, not after one that failed: whoever builds it
// mostly reaches no registry, where a pull takes long to fail.
func resolve(ctx context.Context, engine *client.Client, kind string) (string, error) {
	names := []string{kind}
	if official, ok := images[kind]; ok {
		names = []string{official, builtImage(kind)}
		if own := os.Getenv(override(kind)); own != "" {
			names = []string{own}
		}
	}
	for i, name := range names {
		switch _, err := engine.ImageInspect(ctx, name); {
		case errdefs.IsNotFound(err):
			continue
		case err != nil:
			return "", fmt.Errorf("look for image %s: %w", name, err)
		case i > 0:
			sayBuilt(kind, name, names[0])
		}
		return name, nil
	}
	return names[0], absent(kind, names[0])
}

// said holds the kinds whose built image has been mentioned.
var said sync.Map

func sayBuilt(kind, built, official string) {
	if _, again := said.LoadOrStore(kind, true); !again {
		slog.Info("using the image built on this machine", "image", built, "instead of", official)
	}
}

// absent says what to do about a missing image.
func absent(kind, name string) error {
	remedy := "docker pull " + name
	if _, ok := images[kind]; ok {
		remedy += ", name another one in " + override(kind) + ", or build it with `make docker-images`"
	}
	return fmt.Errorf("image %s: %w: %s", name, errAbsent, remedy)
}

// emptyImage is what programs that are part of lockbench run in: it has nothing.
const emptyImage = "lockbench/empty"

var providing sync.Mutex

// provideEmpty makes it where the engine has none.
func provideEmpty(ctx context.Context, engine *client.Client) error {
	providing.Lock()
	defer providing.Unlock()
	if _, err := engine.ImageInspect(ctx, emptyImage); !errdefs.IsNotFound(err) {
		return err
	}
	var nothing bytes.Buffer
	if err := tar.NewWriter(&nothing).Close(); err != nil {
		return err
	}
	made, err := engine.ImageImport(ctx, client.ImageImportSource{Source: &nothing, SourceName: "-"}, emptyImage, client.ImageImportOptions{})
	if err != nil {
		return fmt.Errorf("make an empty image: %w", err)
	}
	said, err := io.ReadAll(made)
	if err = errors.Join(err, made.Close()); err != nil {
		return fmt.Errorf("make an empty image: %w", err)
	}
	if _, err := engine.ImageInspect(ctx, emptyImage); err != nil {
		return fmt.Errorf("make an empty image: %w: %s", err, said)
	}
	return nil
}
