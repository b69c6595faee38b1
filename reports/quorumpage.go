package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockbench/lockbench/internal/quorum"

	"github.com/lockbench/lockbench/internal/english"
)

// quorumView is what the template shows of a study.
type quorumView struct {
	Kinds   []quorumKind
	Meaning []string
	Remarks []string
}

type quorumKind struct {
	Name      string
	Ensembles []quorum.Ensemble
}

func newQuorumView(study quorum.Study) *quorumView {
	v := &quorumView{Meaning: typeset(meaning(study)), Remarks: typeset(remarks(study))}
	for _, e := range study.Ensembles {
		name := e.Name()
		i := slices.IndexFunc(v.Kinds, func(k quorumKind) bool { return k.Name == name })
		if i < 0 {
			i, v.Kinds = len(v.Kinds), append(v.Kinds, quorumKind{Name: name})
		}
		v.Kinds[i].Ensembles = append(v.Kinds[i].Ensembles, e)
	}
	return v
}

func differs(e quorum.Ensemble) bool { return e.Published >= 0 && e.Published != e.Survives }

// majority is the least number of servers that are more than half of n.
func majority(n int) int { return n/2 + 1 }

// exceptions are the measurements that do not follow the rule of the majority.
func exceptions(study quorum.Study) []string {
	var out []string
	for _, e := range study.Ensembles {
		name := fmt.Sprintf("%s with %s", e.Name(), english.Count(e.Servers, "server"))
		if e.Survives != e.Servers-majority(e.Servers) {
			out = append(out, fmt.Sprintf("%s survived %s", name, english.Count(e.Survives, "crash")))
		}
		for _, s := range e.Splits {
			for _, side := range []quorum.Side{s.Few, s.Many} {
				if side.Locks != (side.Servers >= majority(e.Servers)) {
					out = append(out, fmt.Sprintf("%s, split %d and %d: %s", name, s.Few.Servers, s.Many.Servers, side))
				}
			}
		}
	}
	return out
}

// meaning is the study in two sentences. What they claim is looked up in it.
func meaning(study quorum.Study) []string {
	if len(study.Ensembles) == 0 {
		return nil
	}
	const rule = "By the rule of the majority a lock service goes on as long as more than half of its servers see each other."
	if list := exceptions(study); len(list) > 0 {
		return []string{rule, "Not so here: " + strings.Join(list, "; ") + "."}
	}
	if !slices.ContainsFunc(study.Ensembles, func(e quorum.Ensemble) bool { return e.Servers >= 3 && len(e.Splits) > 0 }) {
		return []string{rule, "So it was in all that was measured, which is little: no split of three servers or more."}
	}
	out := []string{"A lock service goes on exactly as long as more than half of its servers see each other, so that after a split at most one side can grant a lock."}
	if pairs := evenPairs(study); len(pairs) > 0 {
		out = append(out, "Even sizes buy nothing: "+strings.Join(pairs, ", ")+"; and an even ensemble can be split into halves of which neither can lock, an odd one can't.")
	}
	return out
}

var numerals = []string{"no server", "1 server", "two", "three", "four", "five", "six"}

// evenPairs compares each even ensemble, from four servers on, with the next
// smaller one.
func evenPairs(study quorum.Study) []string {
	survives := make(map[int]int)
	for _, e := range study.Ensembles {
		survives[e.Servers] = e.Survives
	}
	var out []string
	for n := 4; n < len(numerals); n += 2 {
		even, ok1 := survives[n]
		odd, ok2 := survives[n-1]
		if ok1 && ok2 && even == odd {
			out = append(out, fmt.Sprintf("%s servers survive as many crashes as %s (%d)", numerals[n], numerals[n-1], odd))
		}
	}
	return out
}

// asPublished says which sizes of ensembles came out as published, of which kinds.
func asPublished(study quorum.Study) (list []string) {
	sizes := map[string][]string{}
	var kinds, all set
	for _, e := range study.Ensembles {
		if e.Published >= 0 {
			kinds.add(e.Name())
			sizes[e.Name()] = append(sizes[e.Name()], fmt.Sprint(e.Servers))
		}
	}
	with := map[string]string{}
	for _, name := range kinds {
		these := strings.Join(sizes[name], ", ")
		all.add(these)
		with[these] += ", with " + name
	}
	for _, these := range all {
		list = append(list, these+" servers came out as published"+with[these])
	}
	return list
}

// remarks are the differences from the survey, and what it leaves unclear.
func remarks(study quorum.Study) []string {
	var out, needs []string
	too := ", too"
	for _, e := range study.Ensembles {
		name := e.Name()
		if differs(e) {
			out = append(out, fmt.Sprintf("Differs: the survey says that %s survive %s; of %s they survived %d.",
				english.Count(e.Servers, "server"), english.Count(e.Published, "crash"), name, e.Survives))
		}
		if e.Servers == 6 {
			n := e.Servers - e.Survives
			if needs = append(needs, fmt.Sprintf("%s needs %d", name, n)); n != 4 {
				too = ""
			}
		}
	}
	if list := asPublished(study); len(out) == 0 && len(list) > 0 {
		out = append(out, "No difference: "+strings.Join(list, "; ")+". The survey says nothing of 1 server.")
	}
	if len(needs) > 0 {
		out = append(out, "Of 6 servers the survey says at first that at least 3 must run, and in the next words that at least 4 must: a slip. "+
			"Measured: "+strings.Join(needs, ", ")+"; and its table, by which 2 of them may crash, asks for 4"+too+".")
	}
	for _, why := range study.Missing {
		out = append(out, "Not measured: "+why+".")
	}
	return out
}

// typeset gives text for terminals the apostrophes of the page.
func typeset(list []string) []string {
	for i, s := range list {
		list[i] = strings.ReplaceAll(s, "'", "’")
	}
	return list
}
