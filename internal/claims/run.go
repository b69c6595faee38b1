package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// longest is how long one command may take.
const longest = 10 * time.Minute

// argv are the arguments of a command as the list has it, which has no quotes but those around
// a whole argument.
func argv(command string) ([]string, error) {
	args := strings.Fields(command)
	if len(args) == 0 || !slices.Contains([]string{"run", "matrix", "bench", "explore", "quorum", "facts"}, args[0]) {
		return nil, fmt.Errorf("%q is no command that gives an outcome", command)
	}
	for i := range args {
		args[i] = strings.Trim(args[i], "'")
	}
	return args, nil
}

// run runs a command of lockbench, and reads its outcome. An exit code that says what came out
// is no failure.
func run(ctx context.Context, program, command string) (*facts, error) {
	args, err := argv(command)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lockbench-claims-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append(args, "--json", "--out", filepath.Join(dir, "out"))...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	ended := cmd.Run()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("not done in time: %w", err)
	}
	if code := (*exec.ExitError)(nil); ended != nil && (!errors.As(ended, &code) || code.ExitCode() < 0 || code.ExitCode() > 3) {
		return nil, fmt.Errorf("%w: %s", ended, lastLine(stderr.String()))
	}
	f, err := read(args[0], stdout.Bytes())
	if err != nil {
		return nil, fmt.Errorf("its outcome can't be read: %w: %s", err, lastLine(stderr.String()))
	}
	for i := range f.Cells {
		if err := f.Cells[i].tell(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
