package reports

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/quorum"
	"github.com/lockbench/lockbench/internal/rundir"
)

// sampleStudy is a study in which the majority decides.
func sampleStudy() quorum.Study {
	s := quorum.Study{Schema: quorum.Schema}
	for _, of := range []struct{ kind, title string }{{"zookeeper", "ZooKeeper"}, {"etcd", ""}, {"redis", "Redlock"}} {
		for n := 1; n <= 6; n++ {
			e := quorum.New(of.kind, of.title, n)
			e.Add(0, quorum.Result{Survives: n - majority(n)})
			for few := 1; few <= n/2; few++ {
				many := n - few
				e.Add(few, quorum.Result{Split: &quorum.Split{
					Few: quorum.Side{Servers: few}, Many: quorum.Side{Servers: many, Locks: many >= majority(n)},
				}})
			}
			s.Ensembles = append(s.Ensembles, e)
		}
	}
	return s
}

// oddStudy disagrees with the survey and with the rule of the majority.
func oddStudy() quorum.Study {
	s := sampleStudy()
	s.Ensembles[3].Survives = 2
	s.Ensembles[8].Splits[0].Few.Locks = true
	return s
}

func TestGoldenQuorum(t *testing.T) {
	for name, study := range map[string]quorum.Study{"quorum.txt": sampleStudy(), "quorum-odd.txt": oddStudy()} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := QuorumTable(&b, study); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestQuorumPage(t *testing.T) {
	dir := t.TempDir()
	path, err := Quorum(dir, sampleStudy())
	if err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		`<tr><th scope="row"`: 18, `class="split"`: 27, "side can\"": 18, "side cannot\"": 36,
		"Even sizes buy nothing": 1, "a slip": 1, "No difference": 1, " differs": 0,
	} {
		if n := strings.Count(string(first), text); n != want {
			t.Errorf("%q stands %d times on the page, want %d", text, n, want)
		}
	}
	again, nodes := render(t, dir)
	if again != string(first) || filepath.Base(path) != rundir.QuorumPage {
		t.Error("the page made again from quorum.json is another one")
	}
	for _, n := range nodes {
		if n.Data == "img" || n.Data == "link" || attr(n, "src") != "" || strings.HasPrefix(attr(n, "href"), "http") {
			t.Errorf("<%s> leads out of the page", n.Data)
		}
	}
}

// TestNoSummaryOfAStudy: who asks for one is told what there is.
func TestNoSummaryOfAStudy(t *testing.T) {
	dir := t.TempDir()
	if err := rundir.SaveQuorum(dir, sampleStudy()); err != nil {
		t.Fatal(err)
	}
	if err := Markdown(io.Discard, dir); !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), "is a study of quorums, which has a page and no summary: leave out --markdown") {
		t.Error(err)
	}
}

func TestQuorumPageSaysWhatDiffers(t *testing.T) {
	dir := t.TempDir()
	if _, err := Quorum(dir, oddStudy()); err != nil {
		t.Fatal(err)
	}
	text, _ := render(t, dir)
	for _, want := range []string{"Not so here: ZooKeeper with 4 servers survived 2 crashes", "1 differs", "Differs: the survey says that 4 servers survive 1 crash"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "buy nothing") {
		t.Error("the page claims what was not measured")
	}
}

func TestMatrixPageShowsTheStudy(t *testing.T) {
	dir := t.TempDir()
	writeMatrix(t, dir, nil, 1)
	if text, _ := render(t, dir); strings.Contains(text, "a slip") {
		t.Fatal("a study from nowhere")
	}
	writeJSON(t, filepath.Join(dir, "quorum", rundir.QuorumFile), sampleStudy())
	if text, _ := render(t, dir); !strings.Contains(text, "a slip") || !strings.Contains(text, "The matrix") {
		t.Error("the matrix page lacks the study below it")
	}
	writeJSON(t, filepath.Join(dir, rundir.QuorumFile), map[string]any{"schema": 99})
	if text, _ := render(t, dir); !strings.Contains(text, "The study of quorums could not be read") || !strings.Contains(text, "schema 99") {
		t.Error("the page hides that the study can't be read")
	}
}

// TestPartOfAStudy: of a study that was interrupted nothing is said that was not measured.
func TestPartOfAStudy(t *testing.T) {
	all := sampleStudy().Ensembles
	part := func(which ...int) (said string) {
		s := quorum.Study{Schema: quorum.Schema}
		for _, i := range which {
			s.Ensembles = append(s.Ensembles, all[i])
		}
		return strings.Join(append(meaning(s), remarks(s)...), " ")
	}
	const law = "exactly as long as more than half"
	for _, i := range []int{0, 1} { // ZooKeeper, of one server and of two
		if said := part(i); strings.Contains(said, law) || !strings.Contains(said, "So it was in all that was measured, which is little") {
			t.Error(said)
		}
	}
	if said := part(1, 7, 8); !strings.Contains(said, law) || !strings.Contains(said, "No difference: 2 servers came out as published, with ZooKeeper; 2, 3 servers came out as published, with etcd. ") {
		t.Error(said)
	}
	if said := part(5); !strings.HasSuffix(said, "Measured: ZooKeeper needs 4; and its table, by which 2 of them may crash, asks for 4, too.") {
		t.Error(said)
	}
	all[5].Survives = 1
	if said := part(5, 11); !strings.HasSuffix(said, "Measured: ZooKeeper needs 5, etcd needs 4; and its table, by which 2 of them may crash, asks for 4.") {
		t.Error(said)
	}
}
