package rundir

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestClass: a class is data in the file, and a sentence where people read.
func TestClass(t *testing.T) {
	for _, c := range []struct {
		of              Class
		json, says, row string
	}{
		{Class{}, `[]`, "nothing", "no fault"},
		{Class{{"crash", 1}}, `[{"what":"crash","times":1}]`, "1 crash", "1 crash"},
		{Class{{"crash", 2}, {"lost reply", 3}}, `[{"what":"crash","times":2},{"what":"lost reply","times":3}]`,
			"2 crashes and 3 lost replies", "2 crashes and 3 lost replies"},
	} {
		text, err := json.Marshal(c.of)
		if err != nil || string(text) != c.json || c.of.String() != c.says || c.of.Fault() != c.row {
			t.Errorf("%s, %q, %q, %v, want %s, %q, %q", text, c.of, c.of.Fault(), err, c.json, c.says, c.row)
		}
		var back Class
		if err := json.Unmarshal(text, &back); err != nil || back.String() != c.says {
			t.Errorf("%s is read as %q, %v", text, back, err)
		}
	}
}

// TestOldClasses: the sentences of an older lockbench are still told.
func TestOldClasses(t *testing.T) {
	dir := t.TempDir()
	text := `{"schema": 2, "classes": [{"name": "2 crashes", "orders": 7}, {"name": "nothing"}], "violations": [{"class": "1 crash and 1 expiry", "outcome": "STUCK"}]}`
	if err := os.WriteFile(filepath.Join(dir, exploredFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := OpenExplored(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := e.Classes[1].Class; c.Fault() != "no fault" {
		t.Errorf("nothing went wrong: %+v", c)
	}
	if c, v := e.Classes[0], e.Violations[0]; c.Class.String() != "2 crashes" || c.Orders != 7 || v.Class.String() != "1 crash and 1 expiry" {
		t.Errorf("%+v, %+v", c, v)
	}
}
