package languages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// installed is the directory of the adapters, where they can be started. It is made once, in the
// user's cache, and named by what is in it.
var installed = sync.OnceValues(install)

func install() (string, error) {
	sum, err := content()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for the adapters: set HOME or XDG_CACHE_HOME: %w", err)
	}
	dir := filepath.Join(cache, "lockbench", "adapters-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", fmt.Errorf("install the adapters (XDG_CACHE_HOME says where): %w", err)
	}
	// Whoever is first gives it its name: it is there whole, or not at all.
	draft, err := os.MkdirTemp(filepath.Dir(dir), "draft-")
	if err != nil {
		return "", fmt.Errorf("install the adapters: %w", err)
	}
	defer os.RemoveAll(draft)
	if err := unpack(draft); err != nil {
		return "", fmt.Errorf("install the adapters: %w", err)
	}
	if err := os.Rename(draft, dir); err != nil {
		if _, there := os.Stat(dir); there != nil {
			return "", fmt.Errorf("install the adapters: %w", err)
		}
	}
	return dir, nil
}

// content names what the adapters are.
func content() (string, error) {
	h := sha256.New()
	err := each(func(name string, text []byte) error {
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
		return nil
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

func unpack(dir string) error {
	return each(func(name string, text []byte) error {
		return os.WriteFile(filepath.Join(dir, name), text, 0o755)
	})
}

func each(do func(name string, text []byte) error) error {
	files, err := adapters.ReadDir("adapters")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := adapters.ReadFile("adapters/" + f.Name())
		if err == nil {
			err = do(f.Name(), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
