package main

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// What is built, and from what: the tool has its own go.mod with it, so that it needs no
// checkout, and what the cache keeps goes by the text of these files.
var (
	//go:embed go.mod
	goMod []byte
	//go:embed go.sum
	goSum []byte
	//go:embed pause/main.go
	pauseGo []byte
)

// version is the one of k8s.io/kubernetes in go.mod; its programs ask the linker for it.
func version() string {
	for line := range strings.Lines(string(goMod)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "k8s.io/kubernetes" {
			return fields[1]
		}
	}
	panic("go.mod requires no k8s.io/kubernetes")
}

// build returns the directory of the programs, and makes it if it is not in the cache: of all that a cluster consists of,
// or, for who needs no more, of one program.
func build(cache, alone string) (string, error) {
	compiler, err := exec.Command("go", "env", "GOVERSION").Output()
	if err != nil {
		return "", fmt.Errorf("ask Go for its version, install Go 1.26 or newer: %w", err)
	}
	sum := sha256.New()
	for _, part := range [][]byte{goMod, goSum, pauseGo, compiler} {
		sum.Write(part)
		sum.Write([]byte{0})
	}
	of := "-" + version() + "-" + hex.EncodeToString(sum.Sum(nil))[:12]
	all := filepath.Join(cache, "kubernetes"+of)
	programs := filepath.Join(cache, cmp.Or(alone, "kubernetes")+of)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	unlock, err := lockCache(cache)
	if err != nil {
		return "", err
	}
	defer unlock()
	for _, there := range []string{all, programs} {
		if _, err := os.Stat(there); err == nil {
			return there, nil
		}
	}
	begun := time.Now()
	fmt.Fprintf(os.Stderr, "building %s %s, which takes some minutes the first time\n", cmp.Or(alone, "etcd and Kubernetes"), version())
	if err := compile(programs, alone); err != nil {
		return "", err
	}
	fmt.Fprintf(os.Stderr, "built in %s: %s\n", time.Since(begun).Round(time.Second), programs)
	return programs, nil
}

// lockCache waits while another one builds.
func lockCache(cache string) (unlock func(), err error) {
	file, err := os.Create(filepath.Join(cache, "kubernetes.lock"))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil
}

// compile builds into a directory beside it, and moves that when all is there.
func compile(programs, alone string) error {
	work, err := os.MkdirTemp(filepath.Dir(programs), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	source, bin := filepath.Join(work, "source"), filepath.Join(work, "bin")
	err = errors.Join(
		os.MkdirAll(filepath.Join(source, "pause"), 0o755),
		os.Mkdir(bin, 0o755),
		os.WriteFile(filepath.Join(source, "go.mod"), goMod, 0o644),
		os.WriteFile(filepath.Join(source, "go.sum"), goSum, 0o644),
		os.WriteFile(filepath.Join(source, "pause/main.go"), pauseGo, 0o644),
	)
	if err != nil {
		return err
	}
	const names = "k8s.io/component-base/version"
	number := strings.SplitN(strings.TrimPrefix(version(), "v"), ".", 3)
	flags := fmt.Sprintf("-s -w -X %s.gitVersion=%s -X %s.gitMajor=%s -X %s.gitMinor=%s",
		names, version(), names, number[0], names, number[1])
	// "tool" is whatever go.mod names as such.
	packages := []string{"tool", "./pause"}
	if alone != "" {
		packages = []string{"k8s.io/kubernetes/cmd/" + alone}
	}
	command := exec.Command("nice", append([]string{"-n", "19", "go", "build", "-trimpath", "-ldflags", flags, "-o", bin + "/"}, packages...)...)
	command.Dir = source
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWORK=off")
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("build Kubernetes, its modules must be reachable or in Go's module cache: %w", err)
	}
	if alone != "" {
		return os.Rename(bin, programs)
	}
	if err := os.Rename(filepath.Join(bin, "server"), filepath.Join(bin, "etcd")); err != nil {
		return err
	}
	layer := map[string]string{"/pause": filepath.Join(bin, "pause")}
	if err := writeImage(filepath.Join(bin, pauseTar), pauseImage, layer, "/pause"); err != nil {
		return err
	}
	return os.Rename(bin, programs)
}
