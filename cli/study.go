package cli

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/lab"
)

// A study has this very program started inside of a lab by a hidden verb, whose last argument is a
// directory of its own: with what the servers said, and the result.

const resultFile = "result.json"

// begin is the directory of a new study, which writes that file, and the lab for it.
func (p program) begin(out, what, file string) (dir string, driver lab.Driver, err error) {
	if dir = out; dir == "" {
		dir = rundir.NewDir(what)
	}
	if _, err := os.Lstat(filepath.Join(dir, file)); err == nil {
		return dir, driver, usage("--out %s: a study never writes over another", dir)
	}
	if driver, err = p.splitting(); err != nil {
		err = exit{exitCantRun, err}
	}
	return dir, driver, err
}

// studied runs the hidden verb with these arguments, and returns its result.
func studied[T any](ctx context.Context, driver lab.Driver, dir string, args ...string) (result T, err error) {
	if err := ctx.Err(); err != nil {
		return result, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return result, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return result, err
	}
	log, err := os.Create(filepath.Join(dir, "lockbench.log"))
	if err != nil {
		return result, err
	}
	defer log.Close()
	if err := run.InLab(ctx, driver, log, run.Grace, append(args, dir)...); err != nil {
		return result, err
	}
	text, err := os.ReadFile(filepath.Join(dir, resultFile))
	if err != nil {
		return result, err
	}
	return result, json.Unmarshal(text, &result)
}

// logs opens what a server of a study says.
type logs func(server string) (*os.File, error)

// study is the hidden verb's part: it opens the lab, and saves what comes out.
func (p program) study(ctx context.Context, dir string, do func(l lab.Lab, log logs) (any, error)) error {
	driver, err := p.splitting()
	if err != nil {
		return err
	}
	return promptly(ctx, func() error {
		l, err := driver.Open(ctx)
		if err != nil {
			return err
		}
		result, err := do(l, func(server string) (*os.File, error) {
			return os.OpenFile(filepath.Join(dir, server+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		})
		if err == nil {
			err = save(filepath.Join(dir, resultFile), result)
		}
		return errors.Join(err, l.Close())
	})
}

// splitting is the first lab that can split a network.
func (p program) splitting() (d lab.Driver, err error) {
	for _, d := range p.Labs {
		if err = d.Can(lab.Packets); err == nil {
			return d, nil
		}
	}
	return d, err
}

func save(path string, v any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(printJSON(f, v), f.Close())
}
