package checker

import (
	"encoding/json"
	"testing"
)

// TestUnkept: in files a claim is one text, as it always was, and what is none is refused.
func TestUnkept(t *testing.T) {
	for _, c := range []struct {
		file, told string
		u          Unkept
	}{
		{`"fair: no: w1 waited: no: one"`, "claimed, and not kept: fair: w1 waited: no: one", Unkept{"fair", "w1 waited: no: one"}},
		{`"tidy: no: a node is left"`, "a node is left", Unkept{"tidy", "a node is left"}},
	} {
		var u Unkept
		if err := json.Unmarshal([]byte(c.file), &u); err != nil || u != c.u || u.String() != c.told {
			t.Errorf("%s: %+v, %q, %v", c.file, u, u, err)
		}
		if text, err := json.Marshal(c.u); err != nil || string(text) != c.file {
			t.Errorf("%+v: %s, %v", c.u, text, err)
		}
	}
	if err := json.Unmarshal([]byte(`"fair"`), new(Unkept)); err == nil {
		t.Error("a claim without a word of how was read")
	}
}
