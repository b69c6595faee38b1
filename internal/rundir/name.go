package rundir

import (
	"fmt"
	"regexp"
	"strings"
)

// Portable is name as a file's name on any system: artifact stores and Windows refuse
// some letters, and some systems take large and small ones for the same.
func Portable(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._+-", r) {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), ".")
	s = s[:min(len(s), longestName)]
	if s == "" || device.MatchString(s) {
		s = "-" + s
	}
	return s
}

// longestName leaves room for what is put before and behind a name, where files' names have
// up to 255 bytes.
const longestName = 120

// device are the names that are no files on Windows, whatever is behind the dot.
var device = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`)

// names gives different things different portable names.
type names struct {
	of    map[string]string // by name
	taken map[string]bool
}

func (n *names) name(name string) string {
	if p, ok := n.of[name]; ok {
		return p
	}
	if n.of == nil {
		n.of, n.taken = map[string]string{}, map[string]bool{}
	}
	p := Portable(name)
	for i := 2; n.taken[p]; i++ {
		p = fmt.Sprintf("%s-%d", Portable(name), i)
	}
	n.of[name], n.taken[p] = p, true
	return p
}
