package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A machine is quiet as long as others use no more than this share of its cores, and
// the hypervisor takes no more than that from it.
const (
	busyOthers = .05
	busySteal  = .01
)

// lookFor is how long a look takes.
const lookFor = 500 * time.Millisecond

// seen is what the machine does while nothing of ours runs.
type seen struct {
	others, steal float64 // shares of all cores, from 0 to 1
	who           []string
	known         bool
}

// look watches the machine for a moment. Where /proc does not tell, nothing is known.
func look(ctx context.Context) seen {
	before, ok1 := readTimes()
	was := byProcess()
	sleep(ctx, lookFor)
	after, ok2 := readTimes()
	s := seen{known: ok1 && ok2}
	d := after.since(before)
	if d.total == 0 {
		return seen{}
	}
	s.others, s.steal = d.busy/d.total, d.steal/d.total
	type used struct {
		name  string
		ticks float64
	}
	var all []used
	for pid, p := range byProcess() {
		if n := p.ticks - was[pid].ticks; n > 0 && pid != os.Getpid() {
			all = append(all, used{p.name, n})
		}
	}
	slices.SortFunc(all, func(a, b used) int { return int(b.ticks - a.ticks) })
	for _, u := range all[:min(3, len(all))] {
		s.who = append(s.who, fmt.Sprintf("%s %.0f%%", u.name, 100*u.ticks/d.total))
	}
	return s
}

// noise says what was not quiet.
func (s seen) noise(when string) (list []string) {
	if !s.known {
		return []string{when + " the benchmark nobody could tell whether the machine was quiet: /proc says nothing"}
	}
	if s.others > busyOthers {
		who := ""
		if len(s.who) > 0 {
			who = ": " + strings.Join(s.who, ", ")
		}
		list = append(list, fmt.Sprintf("%s the benchmark others used %.0f%% of the processors%s", when, 100*s.others, who))
	}
	if s.steal > busySteal {
		list = append(list, fmt.Sprintf("%s the benchmark the hypervisor took %.0f%% of the processors", when, 100*s.steal))
	}
	return list
}

// times are those of all cores, in ticks.
type times struct{ total, busy, steal float64 }

func (t times) since(o times) times {
	return times{t.total - o.total, t.busy - o.busy, t.steal - o.steal}
}

// readTimes reads the first line of /proc/stat: user, nice, system, idle, iowait, irq,
// softirq, steal.
func readTimes() (t times, ok bool) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, false
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 {
		return t, false
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return t, false
		}
		t.total += n
		switch i {
		case 3, 4, 5, 6: // idle, and interrupts, which are nobody's
		case 7:
			t.steal += n
		default:
			t.busy += n
		}
	}
	return t, true
}

// process is one that /proc shows.
type process struct {
	name  string
	ticks float64 // of processor time
}

// byProcess are all processes that this one can see.
func byProcess() map[int]process {
	all := map[int]process{}
	paths, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if pid, p, ok := parseStat(string(text)); ok {
			all[pid] = p
		}
	}
	return all
}

// parseStat reads /proc/PID/stat: "PID (NAME) STATE … UTIME STIME …", where NAME may have
// any letters, and the times are the 12th and the 13th after it.
func parseStat(text string) (pid int, p process, ok bool) {
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return 0, p, false
	}
	p.name = text[open+1 : end]
	pid, err := strconv.Atoi(strings.TrimSpace(text[:open]))
	f := strings.Fields(text[end+1:])
	if err != nil || len(f) < 13 {
		return 0, p, false
	}
	user, err1 := strconv.ParseFloat(f[11], 64)
	system, err2 := strconv.ParseFloat(f[12], 64)
	p.ticks = user + system
	return pid, p, err1 == nil && err2 == nil
}
