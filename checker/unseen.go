package checker

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/internal/english"
)

// around are a program's grants, or its releases, for some of which no request was seen.
type around struct {
	what         string
	all, unasked int
}

func (a around) String() string {
	return fmt.Sprintf("%s, and for %d of them none of the requests passed lockbench that the program says it sends", english.Count(a.all, a.what), a.unasked)
}

// unasked are those of a program of the user's: a grant takes a request at least, and so does a release.
func unasked(r *run) (of []around) {
	if r.plan.Exec == nil || r.plan.Workload == "reentrant" { // where a client may count its own holds
		return nil
	}
	grants, releases := around{"grant", 0, r.Unasked.Grants}, around{"release", 0, r.Unasked.Releases}
	for i := range r.Acqs {
		if r.Acqs[i].Granted() {
			grants.all++
		}
		for one := range r.Releases(&r.Acqs[i]) {
			if one.Result == lb.AnswerOK {
				releases.all++
			}
		}
	}
	return slices.DeleteFunc([]around{grants, releases}, func(a around) bool { return a.unasked == 0 })
}

// unseen is why nothing is known of what a program of the user's asked: most of its grants or releases
// took no request that passed the bench under a name that the program has said.
func unseen(r *run) string {
	for _, a := range unasked(r) {
		if 2*a.unasked > a.all {
			return a.String() + ": either it connects by another way than to the addresses that it is told, where no fault can strike it, or it says other names than those of its requests, or it takes and gives back by what is no request"
		}
	}
	return ""
}

// misnamed is how what a program of the user's sent differs from what it says it sends, or "". What it names
// and never sent may have had no occasion.
func misnamed(r *run) string {
	if r.plan.Exec == nil || len(r.Sent) == 0 {
		return ""
	}
	var told []string
	for _, a := range unasked(r) {
		if a.unasked >= mustFail && float64(a.unasked) > mayFail*float64(a.all) { // now and then one knows without asking
			told = append(told, a.String())
		}
	}
	var d struct {
		Requests []string
		Rare     map[string]string // needs an occasion
	}
	if json.Unmarshal(r.plan.Exec.Described, &d) != nil || len(d.Requests) == 0 {
		return strings.Join(told, "; ")
	}
	without := func(all, some []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(some, name) }), ", ")
	}
	if more := without(r.Sent, d.Requests); more != "" {
		told = append(told, "the program sent "+more+", which it does not name among its requests, so that no fault can be told to strike there")
	}
	if never := without(d.Requests, append(slices.Collect(maps.Keys(d.Rare)), r.Sent...)); never != "" {
		told = append(told, "it names "+never+" among its requests, which no client was seen to send")
	}
	return strings.Join(told, "; ")
}
