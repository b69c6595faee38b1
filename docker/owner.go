package docker

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// The labels of everything that a lab makes.
const (
	labelLab   = "org.lockbench.lab"   // its id
	labelPID   = "org.lockbench.pid"   // the owner's process id
	labelBorn  = "org.lockbench.born"  // when the owner started, since process ids are reused
	labelWhere = "org.lockbench.where" // where its process id means something
)

// owner is the process that a lab belongs to.
type owner struct {
	pid         int
	born, where string
}

func self() owner {
	return owner{pid: os.Getpid(), born: born(os.Getpid()), where: where()}
}

// labels are those of a lab of the owner's.
func (o owner) labels(lab string) map[string]string {
	return map[string]string{
		labelLab: lab, labelPID: strconv.Itoa(o.pid), labelBorn: o.born, labelWhere: o.where,
	}
}

// ownerOf reads labels back; whatever is missing stays zero, a pid included.
func ownerOf(labels map[string]string) owner {
	pid, _ := strconv.Atoi(labels[labelPID])
	return owner{pid: pid, born: labels[labelBorn], where: labels[labelWhere]}
}

// mayLive reports whether the owner may still be running: nothing may be taken
// from it then. sameMachine says that all owners run on this machine, as they
// do when the engine is here.
func (o owner) mayLive(sameMachine bool) bool {
	boot, _, _ := strings.Cut(o.where, "/")
	here, _, _ := strings.Cut(where(), "/")
	if boot != here {
		return !sameMachine // on this machine it died with the last boot
	}
	if o.where != where() {
		return true // in another PID namespace, where this process can't look
	}
	if o.pid <= 0 {
		return false
	}
	if err := syscall.Kill(o.pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	return born(o.pid) == o.born
}

// where names this boot of this machine and this process's PID namespace; ""
// where the system doesn't tell.
func where() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	ns, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(boot)) + "/" + ns
}

// born is when the process started, in clock ticks since boot: field 22 of its
// stat file, the 20th after the command's name, which may hold anything but ends
// with the last bracket. "" where the system doesn't tell.
func born(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
