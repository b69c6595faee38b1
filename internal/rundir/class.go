package rundir

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/lockbench/lockbench/internal/english"
)

// Class is what goes wrong in an order, empty where nothing does: orders in which the same does are of one
// class. Each thing stands in it once, and all classes have the things in one sequence.
type Class []Wrong

// Wrong is one thing that goes wrong, such as "crash", and how often.
type Wrong struct {
	What  string `json:"what"`
	Times int    `json:"times"`
}

// String tells it to people: "nothing", "1 crash", "2 crashes and 1 lost reply".
func (c Class) String() string {
	var all []string
	for _, w := range c {
		if w.Times == 0 {
			return w.What // as an older lockbench told it
		}
		all = append(all, english.Count(w.Times, w.What))
	}
	return cmp.Or(strings.Join(all, " and "), "nothing")
}

// Fault is the class where otherwise the name of a fault stands.
func (c Class) Fault() string {
	if len(c) == 0 {
		return "no fault"
	}
	return c.String()
}

// UnmarshalJSON implements [json.Unmarshaler]. An older lockbench wrote a sentence, which stays one.
func (c *Class) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]Wrong)(c))
	}
	var said string
	err := json.Unmarshal(text, &said)
	if *c = (Class{}); said != Class(nil).String() {
		*c = Class{{What: said}}
	}
	return err
}

// UnmarshalJSON implements [json.Unmarshaler]. In the file of an older lockbench the class is a name.
func (c *ExploredClass) UnmarshalJSON(text []byte) error {
	type plain ExploredClass
	older := struct {
		*plain
		Name Class `json:"name"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(text, &older)
	if older.Name != nil {
		c.Class = older.Name
	}
	return err
}
