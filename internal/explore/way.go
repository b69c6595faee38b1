package explore

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/history"
)

// way is how an order ended for those who took part: what each client was answered and saw, in the sequence
// in which it did, and nothing of when.
func way(events history.Events) string {
	saw := map[string][]string{}
	for _, ev := range events {
		switch ev.Kind {
		case history.KindReturn:
			saw[ev.Client] = append(saw[ev.Client], ev.Op+" "+string(ev.Result))
		case history.KindLost, history.KindRenew:
			saw[ev.Client] = append(saw[ev.Client], string(ev.Kind))
		case history.KindDead:
			saw[ev.Worker] = append(saw[ev.Worker], string(ev.Kind))
		case history.KindRead, history.KindWrite:
			saw[ev.Client] = append(saw[ev.Client], fmt.Sprint(ev.Kind, " ", ev.Copies.Plain, ev.Copies.Checked))
		}
	}
	var all []string
	for _, client := range slices.Sorted(maps.Keys(saw)) {
		all = append(all, client+": "+strings.Join(saw[client], ", "))
	}
	return strings.Join(all, "; ")
}

// digest tells sets of ways apart, and what they came to.
func (r *Result) digest() string {
	h := sha256.New()
	for _, way := range slices.Sorted(maps.Keys(r.Worst)) {
		fmt.Fprintf(h, "%q %s\n", way, r.Worst[way])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// ended notes the way in which an order ended, and what that came to.
func (r *Result) ended(way string, o lb.Outcome) {
	before, known := r.Worst[way]
	if !known || slices.Index(worst, o) < slices.Index(worst, before) {
		r.Worst[way] = o
	}
	r.Ways = len(r.Worst)
}
