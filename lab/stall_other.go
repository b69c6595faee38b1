//go:build !linux

package lab

import "errors"

// Stallable always fails here.
func Stallable([]string) error { return errors.ErrUnsupported }

func (d *slowDisk) wrap(p Program) (Program, func(), error) { return p, nil, errors.ErrUnsupported }
