package shorthand

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/lockbench/lockbench/history"
)

// String writes events in the short notation, one a line, with times in nanoseconds.
// What the notation has no word for (notes, counts of requests) is left out, and a
// name that is missing where one must stand is written as "?".
func String(h history.Events) string {
	var b strings.Builder
	for i := range h {
		line(&b, &h[i])
	}
	return b.String()
}

func line(b *strings.Builder, ev *history.Event) {
	letter := string(ev.Kind)
	if ev.Kind == history.KindCall || ev.Kind == history.KindReturn {
		letter = letter[:1]
		if ev.Op == history.OpRelease {
			letter = strings.ToUpper(letter)
		}
	}
	fmt.Fprint(b, int64(ev.At), " ", letter)
	said := " " + kinds[letter].words + " "
	for name := range strings.FieldsSeq(said) {
		fmt.Fprint(b, " ", cmp.Or(text(ev, name), "?"))
	}
	lock := ""
	if strings.Contains(said, " id ") && ev.ID != "" && ev.Kind != history.KindStep {
		lock = "l"
	}
	if ev.Lock != lock {
		fmt.Fprint(b, " lock=", ev.Lock)
	}
	for _, name := range [...]string{"client", "id", "worker", "result", "name", "phase", "target", "fault"} {
		if v := text(ev, name); v != "" && !strings.Contains(said, " "+name+" ") {
			fmt.Fprint(b, " ", name, "=", v)
		}
	}
	for _, f := range [...]struct {
		name string
		set  bool
	}{{"shared", ev.Shared}, {"proven", ev.Proven}} {
		if f.set {
			fmt.Fprint(b, " ", f.name)
		}
	}
	for _, f := range [...]struct {
		name  string
		value int64
	}{{"until", int64(ev.Until)}, {"call", int64(ev.Call)}, {"token", int64(ev.Token)}, {"seq", int64(ev.Seq)}, {"count", int64(ev.Count)}} {
		if f.value != 0 {
			fmt.Fprint(b, " ", f.name, "=", f.value)
		}
	}
	if c := ev.Copies; c != nil {
		writeCopy(b, "plain", c.Plain, ev.Kind == history.KindRead)
		if c.Checked != c.Plain {
			writeCopy(b, "checked", c.Checked, ev.Kind == history.KindRead)
		}
		if c.Fenced != nil {
			writeCopy(b, "fenced", *c.Fenced, ev.Kind == history.KindRead)
		}
	}
	b.WriteByte('\n')
}

func text(ev *history.Event, name string) string {
	switch name {
	case "client":
		return ev.Client
	case "id":
		return ev.ID
	case "worker":
		return ev.Worker
	case "result":
		if ev.Kind != history.KindReturn {
			return ""
		}
		return ev.Result.String()
	case "name":
		return ev.Name
	case "target":
		return ev.Target
	case "fault":
		return ev.Fault
	default:
		return ev.Phase
	}
}

func writeCopy(b *strings.Builder, name string, c history.CopyEffect, read bool) {
	fmt.Fprintf(b, " %s=%d", name, c.Value)
	switch {
	case c.Result == history.Landed && !read:
		fmt.Fprintf(b, "/%d/%d", c.Base, c.New)
	case c.Result != history.NoDecision:
		fmt.Fprintf(b, "/%d/%s", c.Base, c.Result)
	case c.Base != 0:
		fmt.Fprintf(b, "/%d", c.Base)
	}
}
