//go:build !apiserver

package kubernetes

import (
	"context"
	"errors"

	lb "github.com/lockbench/lockbench"
)

// The library registers every kind of object that Kubernetes has whenever a program begins that contains it, and makes it
// a fifth larger. So only that lockbench has it which is built with the tag.
var errAbsent = errors.New("this lockbench is built without the client library of Kubernetes: run 'make build' where kube-apiserver is, or build it with the tag apiserver")

// Ready says that the lock is not in this program.
func (lease) Ready() error { return errAbsent }

func (lease) Open(context.Context, *lb.Env) (lb.Client, error) { return nil, errAbsent }
