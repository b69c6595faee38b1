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

// builtImage is what docker/build.sh makes of a kind.
func builtImage(kind string) string { return "lockbench/" + kind + ":debian" }

// override is the environment variable that replaces a kind's image.
func override(kind string) string { return "LOCKBENCH_IMAGE_" + strings.ToUpper(kind) }

// named takes a [lab.Kind]'s image apart: the official one, and the short name of the kind by
// which others may stand in for it, "" where none may.
func named(image string) (kind, official string) {
	kind, official, ok := strings.Cut(image, "=")
	if !ok {
		return "", image
	}
	return kind, official
}

// errAbsent: the engine does not have the image.
var errAbsent = errors.New("the image is not on this engine")

// resolve finds what the engine has for an image, as a [lab.Kind] names it: what the
// environment names, else the official one, else the one built here. If it has none, the result is the name to pull, with errAbsent.
//
// A built image goes before a pull, not after one that failed: whoever builds it
// mostly reaches no registry, where a pull takes long to fail.
func resolve(ctx context.Context, engine *client.Client, image string) (string, error) {
	kind, official := named(image)
	names := []string{official}
	if kind != "" {
		names = append(names, builtImage(kind))
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

// absent says what to do about a missing image, of a kind or of none.
func absent(kind, name string) error {
	remedy := "docker pull " + name
	if kind != "" {
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
