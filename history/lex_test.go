package history

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	lb "github.com/lockbench/lockbench"
)

// TestLines is what one line may and may not say.
func TestLines(t *testing.T) {
	call := func(more string) string {
		return `{"t":1,"e":"call","op":"acquire","client":"c","lock":"L","id":"1"` + more + `}`
	}
	ret := func(more string) string {
		return `{"t":1,"e":"return","op":"acquire","client":"c","lock":"L","id":"1"` + more + `}`
	}
	write := func(copies string) string {
		return `{"t":1,"e":"write","client":"c","lock":"L","id":"1","seq":1,"copies":` + copies + `}`
	}
	for line, want := range map[string]string{
		call(""): "", " " + call(` , "shared" : true, "more":[{"a":null},-1.5e3,"\ud83d\ude00"]`) + "\t": "",
		call(`,"shared":1`):                      "shared: neither true nor false",
		call(`,"id":"2"`):                        "id is there twice",
		call(`,"T":5`):                           "",
		call(`,"x":01`):                          `"01" is no value`,
		call(`,"x":tru`):                         `"tru" is no value`,
		call(`,"x":[1,]`):                        "is no value",
		call(`,"x":{"a" 1}`):                     `'1' where ':' belongs`,
		call(`,"x":` + strings.Repeat("[", 200)): "more than 100 levels",
		call("") + "x":                           "there is more behind it",
		call(",\"x\":\"\xff\""):                  "a string is not UTF-8",
		call(",\"x\":\"\\n\xff\""):               "a string is not UTF-8",
		call(",\"x\":\"\x01\""):                  "the byte 0x01 in a string",
		call(`,"x":"\ud83d"`):                    "a string is not UTF-8",
		call(`,"x":"\q"`):                        `the escape \q`,
		call(`,"x":"\u12g4"`):                    `no digit of \u`,
		`{"t":1`:                                 "the line ends too early",
		`[]`:                                     `'[' where '{' belongs`,
		`null`:                                   `'n' where '{' belongs`,
		`{}`:                                     `unknown kind of event ""`,
		`{"t":1,"e":"END"}`:                      `unknown kind of event "END"`,
		`{"e":"end"}`:                            "an end needs t",
		`{"t":null,"e":"end"}`:                   "t: a number is not a whole one",
		`{"t":1.5,"e":"end"}`:                    "t: a number is not a whole one",
		`{"t":1e3,"e":"end"}`:                    "t: a number is not a whole one",
		`{"t":01,"e":"end"}`:                     "t: a number is not a whole one",
		`{"t":"1","e":"end"}`:                    "t: a number is not a whole one",
		`{"t":9223372036854775808,"e":"end"}`:    "t: a number is not a whole one",
		`{"t":99999999999999999999,"e":"end"}`:   "t: a number is not a whole one",
		`{"t":4611686018427387905,"e":"end"}`:    "t is 4611686018427387905, and not from 0 to 2^62",
		`{"t":-1,"e":"end"}`:                     "t is -1",
		ret(""):                                  "a return needs result",
		ret(`,"result":"yes"`):                   `result "yes" is not one of`,
		ret(`,"result":"lost"`):                  "an acquire can't return lost",
		ret(`,"result":"released"`):              "an acquire can't return released",
		`{"t":1,"e":"act","name":"cut","target":"s","phase":"end"}`:                                        "",
		`{"t":1,"e":"act","name":"cut","phase":"end"}`:                                                     "an act needs target",
		`{"t":1,"e":"act","name":"cut","target":"","phase":"end"}`:                                         "an act needs target, and it is empty",
		`{"t":1,"e":"act","name":"cut","target":"s"}`:                                                      "an act needs phase",
		`{"t":1,"e":"act","name":"cut","target":"s","phase":"strike"}`:                                     `phase "strike" is not one of begin, end`,
		`{"t":1,"e":"fault","name":"cut","phase":"begin"}`:                                                 `phase "begin" is not one of strike, heal, healed`,
		`{"t":1,"e":"failed"}`:                                                                             "a failed needs client",
		`{"t":1,"e":"failed","client":"c","note":"no route"}`:                                              "",
		ret(`,"result":"ok","until":0`):                                                                    "until is 0",
		ret(`,"result":"ok","until":-5`):                                                                   "until is -5",
		ret(`,"result":"ok","token":0`):                                                                    "token: must be 1 or more",
		ret(`,"result":"ok","token":-1`):                                                                   "token: must be 1 or more",
		ret(`,"result":"ok","token":18446744073709551615`):                                                 "",
		ret(`,"result":"ok","token":18446744073709551616`):                                                 "token: a number is not a whole one",
		ret(`,"result":"ok","requests":-1`):                                                                "requests: is -1",
		strings.Replace(call(""), `"L"`, `""`, 1):                                                          "a call needs lock, and it is empty",
		`{"t":1,"e":"renew","client":"c","lock":"L","id":"1"}`:                                             "a renew needs until",
		`{"t":1,"e":"renew","client":"c","lock":"L","id":"1","until":9,"call":2}`:                          "call is after t",
		`{"t":1,"e":"silent","worker":"w"}`:                                                                "a silent needs call",
		`{"t":1,"e":"fault","name":"f","phase":"begin"}`:                                                   `phase "begin" is not one of`,
		write(`{"plain":{"value":1}}`):                                                                     "copies: need plain and checked",
		write(`{"plain":{"value":1,"result":"landed"},"checked":{"value":1}}`):                             "checked: a write needs result",
		write(`{"plain":{"value":1,"result":"odd"},"checked":{"value":1,"result":"landed"}}`):              `plain: result "odd"`,
		write(`{"plain":{"result":"landed"},"checked":{"value":1,"result":"landed"}}`):                     "a copy needs value",
		write(`{"plain":{"value":1,"value":2,"result":"landed"},"checked":{"value":1,"result":"landed"}}`): "value: is there twice",
		write(`{"plain":{"value":1,"result":"landed"},"checked":{"value":1,"result":"skipped"},"fenced":{"value":1,"result":"refused"}}`): "",
	} {
		var p parser
		var ev Event
		err := p.event([]byte(line), &ev)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s\n%v, want %q", line, err, want)
		}
	}
}

// TestNamesAreAnyBytes: two names that differ stay two names.
func TestNamesAreAnyBytes(t *testing.T) {
	for _, name := range []string{"\xff", "\xfe", "\xed\xb3\xbf", "a\x80é\\\"", "\ufffd", "💀", "\x00\x1f\u2028"} {
		text := appendEvent(nil, &Event{At: 1, Kind: KindLost, Client: "c", Lock: name, ID: "1"})
		var p parser
		var ev Event
		if err := p.event(text[:len(text)-1], &ev); err != nil || ev.Lock != name {
			t.Errorf("%q is read as %q: %v", name, ev.Lock, err)
		}
		if !json.Valid(text) {
			t.Errorf("%s is no JSON", text)
		}
	}
}

// FuzzLine compares with encoding/json: what is read must be JSON, and mean the same;
// and what was read must be what is read again.
func FuzzLine(f *testing.F) {
	for _, ev := range sample {
		f.Add(appendEvent(nil, &ev))
	}
	f.Add([]byte(`{"t":1,"e":"lost","client":"a\udcffA\ud83d\udc80","lock":"\/\b\f\r\t","id":"1","x":[{},[],-0.1e+5,null]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var p parser
		var ev Event
		if err := p.event(line, &ev); err != nil {
			return
		}
		if !json.Valid(line) {
			t.Fatalf("%q is taken for JSON", line)
		}
		text := appendEvent(nil, &ev)
		var again Event
		if err := p.event(text[:len(text)-1], &again); err != nil || !reflect.DeepEqual(ev, again) {
			t.Fatalf("read %+v\nagain %+v, %v", ev, again, err)
		}
		if strings.Contains(string(line), `\u`) || hasOddKeys(line) {
			return // encoding/json has no bytes in names, and takes keys in any case
		}
		var theirs Event
		if err := json.Unmarshal(numbered(line), &theirs); err != nil || fmt.Sprintf("%+v", clean(ev)) != fmt.Sprintf("%+v", clean(theirs)) {
			t.Fatalf("%s\nread %+v\nencoding/json %+v, %v", line, ev, theirs, err)
		}
	})
}

var resultWord = regexp.MustCompile(`"result"\s*:\s*"(\w*)"`)

// numbered writes the words of results as the numbers that they are in memory.
func numbered(line []byte) []byte {
	return resultWord.ReplaceAllFunc(line, func(b []byte) []byte {
		word := string(resultWord.FindSubmatch(b)[1])
		return fmt.Appendf(nil, `"result":%d`, max(0, slices.Index(lb.Answers[:], word), slices.Index(decisionNames[:], word)))
	})
}

func clean(ev Event) any {
	if ev.Kind != KindReturn {
		ev.Result = 0
	}
	if ev.Kind != KindRead && ev.Kind != KindWrite {
		ev.Copies = nil
	}
	c := ev.Copies
	ev.Copies = nil
	if c == nil {
		return ev
	}
	if c.Fenced == nil {
		return []any{ev, c.Plain, c.Checked}
	}
	return []any{ev, c.Plain, c.Checked, *c.Fenced}
}

// hasOddKeys reports whether a key differs from one of ours by its case only, or is
// one that a copy may have twice.
func hasOddKeys(line []byte) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(line, &m) != nil {
		return true
	}
	for k := range m {
		if fieldOf([]byte(k)) == 0 && fieldOf([]byte(strings.ToLower(k))) != 0 || strings.ContainsFunc(k, func(r rune) bool { return r > 127 }) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(string(m["copies"])), "e") && strings.ToLower(string(m["copies"])) != string(m["copies"])
}
