package checker

// forest groups acquisitions that are entangled in violations: what one double
// grant brings about belongs to it. Each points to another of its group, or to
// itself.
type forest []int32

// link puts two acquisitions into one group.
func (g *grant) link(a, b int32) {
	if g.result.causes == nil { // a legal history never gets here
		g.result.causes = make(forest, len(g.tenures))
		for i := range g.result.causes {
			g.result.causes[i] = int32(i)
		}
	}
	f := g.result.causes
	f[f.root(a)] = f.root(b)
}

// root is the acquisition that stands for a's group.
func (f forest) root(a int32) int32 {
	for f[a] != a {
		f[a] = f[f[a]]
		a = f[a]
	}
	return a
}
