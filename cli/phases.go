package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/lockbench/lockbench/internal/progress"
)

// phases shows what one run or a benchmark is at: a line for each phase that stays, and on
// a terminal how long the last has been going on.
type phases struct {
	board *progress.Board
	start time.Time

	mu      sync.Mutex
	now     string
	since   time.Time
	quit    chan struct{}
	quitted sync.WaitGroup
}

func newPhases(b *progress.Board) *phases {
	p := &phases{board: b, start: time.Now(), quit: make(chan struct{})}
	p.quitted.Go(func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.draw()
			case <-p.quit:
				return
			}
		}
	})
	return p
}

func (p *phases) close() {
	close(p.quit)
	p.quitted.Wait()
	p.board.Close()
}

func (p *phases) tell(phase string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.board.Say("%5.1f s  %s", time.Since(p.start).Seconds(), phase)
	p.now, p.since = phase, time.Now()
}

func (p *phases) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now != "" {
		p.board.Show(fmt.Sprintf("%5.1f s  … for %.0f s", time.Since(p.start).Seconds(), time.Since(p.since).Seconds()))
	}
}
