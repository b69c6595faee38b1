// Command packages draws what the program consists of, from the imports themselves: the
// packages in layers, each above all that it imports, and an arc for every import that
// no path of other arcs already says. Packages below another are one with it.
package main

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	module    = "github.com/lockbench/lockbench"
	row       = 24  // pixels from one line to the next
	arcs      = 130 // wide
	names     = 142 // wide
	docs      = 600 // wide
	docLetter = 98  // so many letters at most
)

// part is one line of the picture.
type part struct {
	name, doc string
	imports   map[string]bool
	layer     int
}

func main() {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}}|{{.Doc}}|{{join .Imports " "}}`, "./cmd/lockbench").Output()
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages: go list:", err)
		os.Exit(1)
	}
	fmt.Print(draw(read(string(out))))
}

// partOf is the part that a package belongs to, "" for those of others.
func partOf(path string) string {
	rest, ours := strings.CutPrefix(path, module)
	parts := strings.Split(strings.TrimPrefix(rest, "/"), "/")
	switch {
	case !ours:
		return ""
	case parts[0] == "":
		return "lockbench"
	case parts[0] == "internal" || parts[0] == "cmd":
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// read makes parts of what go list says, where a package stands below all that it
// imports.
func read(list string) map[string]*part {
	all := map[string]*part{}
	for line := range strings.Lines(list) {
		fields := strings.SplitN(line, "|", 3)
		name := partOf(fields[0])
		if name == "" {
			continue
		}
		if all[name] == nil {
			all[name] = &part{name: name, imports: map[string]bool{}}
		}
		p := all[name]
		if path := strings.TrimPrefix(fields[0], module+"/"); path == name || name == "lockbench" {
			p.doc = fields[1]
		}
		for _, path := range strings.Fields(fields[2]) {
			if to := partOf(path); to != "" && to != name {
				p.imports[to] = true
				p.layer = max(p.layer, all[to].layer+1)
			}
		}
	}
	return all
}

// reaches reports whether a part imports another through others.
func reaches(all map[string]*part, from, to string) bool {
	for name := range all[from].imports {
		if all[name].imports[to] || reaches(all, name, to) {
			return true
		}
	}
	return false
}

func draw(all map[string]*part) string {
	parts := slices.SortedFunc(maps.Values(all), func(a, b *part) int { return cmp.Or(b.layer-a.layer, strings.Compare(a.name, b.name)) })
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="DejaVu Sans, Verdana, sans-serif" font-size="12">
<style>text{fill:#1a1f27}.doc{fill:#5b6472;font-size:11px}path{fill:none;stroke-width:1.3}.layer{stroke:#dde1e7}
@media(prefers-color-scheme:dark){text{fill:#e7ebf1}.doc{fill:#9aa5b4}.layer{stroke:#2d3643}}</style>
`, arcs+names+docs, len(parts)*row)
	for i, p := range parts {
		y, hue := i*row+row/2, i*360/len(parts)
		if i > 0 && parts[i-1].layer != p.layer {
			fmt.Fprintf(&b, "<path class=\"layer\" d=\"M%d %dh%d\"/>\n", arcs, i*row, names+docs)
		}
		fmt.Fprintf(&b, "<text x=\"%d\" y=\"%d\">%s</text><text class=\"doc\" x=\"%d\" y=\"%d\">%s</text>\n",
			arcs+6, y+4, p.name, arcs+names, y+4, html.EscapeString(told(p)))
		for j, to := range parts {
			if !p.imports[to.name] || reaches(all, p.name, to.name) {
				continue
			}
			end := j*row + row/2 - 3
			wide := 14 + (arcs-30)*(j-i)/len(parts) // a longer arc passes around the shorter ones
			fmt.Fprintf(&b, "<g style=\"stroke:hsl(%d 60%% 48%%)\"><path d=\"M%d %dh-4C%d %d %d %d %d %dh6m-5 -3l5 3l-5 3\"/></g>\n",
				hue, arcs+2, y+2, arcs-4-wide*4/3, y+2, arcs-4-wide*4/3, end, arcs-4, end)
		}
	}
	return b.String() + "</svg>\n"
}

// told is what a part's documentation says first.
func told(p *part) string {
	for _, start := range []string{"Package ", "Command ", p.name[strings.LastIndex(p.name, "/")+1:] + " "} {
		p.doc = strings.TrimPrefix(p.doc, start)
	}
	if letters := []rune(p.doc); len(letters) > docLetter {
		return string(letters[:docLetter-1]) + "…"
	}
	return p.doc
}
