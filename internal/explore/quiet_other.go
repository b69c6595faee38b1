//go:build !linux

package explore

import "time"

func nap(d time.Duration) { time.Sleep(d) }

// threads are only ever looked at in a lab, which is on Linux.
type threads struct{}

func (threads) busy([]int) bool { return true }
func (threads) close()          {}
