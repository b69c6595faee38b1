package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// The image of what keeps a pod's namespaces.
const (
	pauseImage = "lockbench/pause:kubernetes"
	pauseTar   = "pause.tar"
)

// writeImage writes an image of one layer as docker save does. The files are programs,
// from the path in the image to the one here.
func writeImage(path, name string, files map[string]string, command ...string) error {
	var layer bytes.Buffer
	contents := tar.NewWriter(&layer)
	for inside, outside := range files {
		data, err := os.ReadFile(outside)
		if err == nil {
			err = add(contents, inside[1:], 0o755, data)
		}
		if err != nil {
			return err
		}
	}
	if err := contents.Close(); err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config":       map[string]any{"Entrypoint": command},
		"rootfs":       map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}},
	})
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]any{map[string]any{
		"Config": "config.json", "RepoTags": []string{name}, "Layers": []string{"layer.tar"},
	}})
	if err != nil {
		return err
	}
	var image bytes.Buffer
	archive := tar.NewWriter(&image)
	err = errors.Join(
		add(archive, "manifest.json", 0o644, manifest),
		add(archive, "config.json", 0o644, config),
		add(archive, "layer.tar", 0o644, layer.Bytes()),
		archive.Close(),
	)
	if err != nil {
		return err
	}
	return os.WriteFile(path, image.Bytes(), 0o644)
}

func add(to *tar.Writer, name string, mode int64, data []byte) error {
	if err := to.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err := to.Write(data)
	return err
}

// importImage reads an image once and gives it to every node that runs.
func importImage(dir, file string) error {
	c, err := load(dir)
	if err != nil {
		return err
	}
	in := io.ReadCloser(os.Stdin)
	if file != "-" {
		if in, err = os.Open(file); err != nil {
			return err
		}
		defer in.Close()
	}
	var imports []*exec.Cmd
	var pipes []io.WriteCloser
	var sinks []io.Writer
	for number := 1; number <= c.Nodes; number++ {
		socket := filepath.Join(c.node(number), "run", containerdSocket)
		if !answers(socket) {
			fmt.Fprintf(os.Stderr, "node %d doesn't run and is left out: start it and import again\n", number)
			continue
		}
		command := importer(socket, c.Snapshotter, "-")
		command.Stderr = os.Stderr
		pipe, err := command.StdinPipe()
		if err != nil {
			return err
		}
		if err := command.Start(); err != nil {
			return fmt.Errorf("start ctr, install containerd: %w", err)
		}
		imports, pipes, sinks = append(imports, command), append(pipes, pipe), append(sinks, pipe)
	}
	if len(imports) == 0 {
		return fmt.Errorf("no node of %s runs: start one", dir)
	}
	_, err = io.Copy(io.MultiWriter(sinks...), in)
	for i, command := range imports {
		err = errors.Join(err, pipes[i].Close(), command.Wait())
	}
	if err != nil {
		return fmt.Errorf("import the image %s (it must be an archive as docker save writes it): %w", file, err)
	}
	return nil
}

// importer gives an image to the containerd at the socket, where kubelets look for it.
func importer(socket, snapshotter, file string) *exec.Cmd {
	return exec.Command("ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", "--snapshotter", snapshotter, file)
}
