//go:build !linux

package processes

import (
	"errors"
	"syscall"
	"time"
)

const stopSignal, continueSignal = syscall.Signal(17), syscall.Signal(19)

const (
	stopped byte = 'T'
	ended   byte = 'Z'
)

// Adopt needs Linux.
func Adopt() error { return errors.New("adopt what a program leaves: on Linux only") }

// Of needs Linux: elsewhere no process is known.
func Of(int) ([]int, error) { return nil, nil }

// Has needs Linux.
func Has(int) (threads, files int) { return 0, 0 }

// Began needs Linux.
func Began(int) (time.Time, error) {
	return time.Time{}, errors.New("when a process began: on Linux only")
}

func stateOf(int) (byte, error) { return ended, nil }

func marked(int, string) bool { return false }

func ranFor(int) time.Duration { return 0 }
