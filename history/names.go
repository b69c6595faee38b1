package history

import (
	"hash/maphash"
	"slices"
	"strings"
)

// notes keep each text once: what fails a thousand times mostly says the same.
type notes map[string]string

func (n *notes) once(text string) string {
	if s, ok := (*n)[text]; ok {
		return s
	}
	if *n == nil {
		*n = notes{}
	}
	if len(*n) == mostNotes {
		return ""
	}
	text = strings.Clone(text)
	(*n)[text] = text
	return text
}

// mostNotes bounds the texts that are kept.
const mostNotes = 1000

// numbers gives numbers to names.
type numbers struct {
	of   map[string]int32
	name []string
}

func (n *numbers) number(name string) int32 {
	if i, ok := n.of[name]; ok {
		return i
	}
	if n.of == nil {
		n.of = map[string]int32{}
	}
	i := int32(len(n.name))
	name = strings.Clone(name)
	n.of[name] = i
	n.name = append(n.name, name)
	return i
}

// acqTable gives numbers to acquisitions: a hash table of indexes, since there are
// as many of them as there are operations.
type acqTable struct {
	seed  maphash.Seed
	slots []int32 // a number, or None
	refs  []acqRef
	ids   []byte
}

type acqRef struct {
	off, len uint32
	lock     int32
}

func (t *acqTable) number(lock int32, id string) int32 {
	if 4*len(t.refs) >= 3*len(t.slots) {
		t.grow()
	}
	slot := t.slot(lock, id)
	if n := t.slots[slot]; n != None {
		return n
	}
	n := int32(len(t.refs))
	t.slots[slot] = n
	t.refs = append(t.refs, acqRef{uint32(len(t.ids)), uint32(len(id)), lock})
	t.ids = append(t.ids, id...)
	return n
}

func (t *acqTable) text(n int32) string {
	r := t.refs[n]
	return string(t.ids[r.off:][:r.len])
}

// slot is where the acquisition is, or belongs.
func (t *acqTable) slot(lock int32, id string) int {
	mask := len(t.slots) - 1
	i := int(maphash.String(t.seed, id)+uint64(lock)*0x9e3779b97f4a7c15) & mask
	for ; ; i = (i + 1) & mask {
		n := t.slots[i]
		if n == None {
			return i
		}
		if r := t.refs[n]; r.lock == lock && int(r.len) == len(id) && string(t.ids[r.off:][:r.len]) == id {
			return i
		}
	}
}

func (t *acqTable) grow() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = slices.Repeat([]int32{None}, max(32, 2*len(t.slots)))
	for n, r := range t.refs {
		t.slots[t.slot(r.lock, string(t.ids[r.off:][:r.len]))] = int32(n)
	}
}
