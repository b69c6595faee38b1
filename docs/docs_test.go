package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	notSlug = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors are the headings of a page, as GitHub names them.
func anchors(page string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		all = append(all, strings.ReplaceAll(notSlug.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return all
}

// broken are the links of a page that lead to no file, or to no heading of one.
func broken(path string) (all []string) {
	text, err := os.ReadFile(path)
	if err != nil {
		return []string{err.Error()}
	}
	for _, l := range link.FindAllStringSubmatch(fence.ReplaceAllString(string(text), ""), -1) {
		to, anchor, _ := strings.Cut(l[1], "#")
		if strings.Contains(to, "://") {
			continue
		}
		at := path
		if to != "" {
			at = filepath.Join(filepath.Dir(path), to)
		}
		if _, err := os.Stat(at); err != nil {
			all = append(all, path+": "+l[1]+" is not there")
		} else if anchor != "" {
			if page, err := os.ReadFile(at); err != nil || !slices.Contains(anchors(string(page)), anchor) {
				all = append(all, path+": "+l[1]+" is no heading there")
			}
		}
	}
	return all
}

// TestLinks: what the front page and the manual link to is there.
func TestLinks(t *testing.T) {
	var pages []string
	for _, p := range Pages() {
		pages = append(pages, p.Topic+".md")
	}
	pages = append(pages, "../README.md", "../CONTRIBUTING.md", "../ARCHITECTURE.md", "../examples/README.md")
	for _, page := range pages {
		for _, b := range broken(page) {
			t.Error(b)
		}
	}
}

// TestBroken: links that lead nowhere are found.
func TestBroken(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	text := "# The page: one\n[it](page.md#the-page-one) [it](#the-page-one) [far](https://example.org/x#y)\n```\n[code](none.md)\n# a comment\n```\n[a](none.md) [b](#none) [c](page.md#a-comment)\n"
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := broken(page); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// TestPages: every page has a title, and says more than that.
func TestPages(t *testing.T) {
	pages := Pages()
	if len(pages) < 15 {
		t.Errorf("%d pages", len(pages))
	}
	for _, p := range pages {
		if !strings.HasPrefix(p.Text, "# ") || p.Title == "" || strings.Count(p.Text, "\n") < 8 {
			t.Errorf("%s: title %q", p.Topic, p.Title)
		}
	}
}

// TestFindings: the index lists each finding, which says of itself what a reader upstream asks
// first, and each program belongs to a finding, which names it, and is short enough to read.
func TestFindings(t *testing.T) {
	index, err := os.ReadFile("findings.md")
	if err != nil {
		t.Fatal(err)
	}
	findings := map[string]string{}
	for _, p := range Pages() {
		name, is := strings.CutPrefix(p.Topic, "findings/")
		if !is {
			continue
		}
		findings[name] = p.Text
		if !strings.Contains(string(index), "\n| ["+p.Title+"](findings/"+name+".md) |") {
			t.Errorf("findings.md has no row of %s", name)
		}
		for _, has := range []string{"\n- **Status**: ", "\n- **Seen with**: ", "\n- **Newest looked at**: "} {
			if strings.Count(p.Text, has) != 1 {
				t.Errorf("%s has not one%s", p.Topic, has)
			}
		}
	}
	if rows := strings.Count(string(index), "](findings/") - strings.Count(string(index), "](findings/programs/"); len(findings) < 27 || rows < len(findings) {
		t.Errorf("%d findings, and %d links to them", len(findings), rows)
	}
	programs, err := filepath.Glob("findings/programs/*/main.*")
	if err != nil || len(programs) < 12 {
		t.Errorf("%d programs, %v", len(programs), err)
	}
	for _, path := range programs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(text), "\n"); lines >= 60 {
			t.Errorf("%s has %d lines, and should have fewer than 60", path, lines)
		}
		if strings.Contains(string(text), "github.com/lockbench") {
			t.Errorf("%s needs lockbench", path)
		}
		link := "](" + strings.TrimPrefix(path, "findings/") + ")"
		name := filepath.Base(filepath.Dir(path))
		if !strings.Contains(findings[name], link) {
			t.Errorf("findings/%s.md does not name %s", name, path)
		}
		if !strings.Contains(string(index), "]("+path+")") {
			t.Errorf("findings.md does not name %s", path)
		}
		delete(findings, name)
	}
	for name, text := range findings {
		if strings.Contains(text, "](programs/") {
			t.Errorf("findings/%s.md names a program, and has none", name)
		}
	}
}
