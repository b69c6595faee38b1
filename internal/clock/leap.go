package clock

import "time"

var leapt time.Duration // moving is held

// Leap lets both clocks of the programs that this process starts leap ahead, as they would if
// everything had stood still for d; those of this process stay as they are. It is for a process
// whose own clocks nobody moves.
func Leap(d time.Duration) {
	moving.Lock()
	defer moving.Unlock()
	leapt += d
	tell(leaping())
}

func leaping() *clocks {
	return &clocks{wall: skew{offset: int64(leapt)}, mono: skew{offset: int64(leapt)}}
}
