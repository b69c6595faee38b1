package foreign

import "fmt"

// Finding is what a program did that can't be an answer of its lock. It says nothing about
// the lock.
type Finding struct {
	Program, What string
}

func (f *Finding) Error() string { return f.Program + " " + f.What }

func (p *process) finding(format string, args ...any) *Finding {
	return &Finding{Program: p.name, What: fmt.Sprintf(format, args...)}
}
