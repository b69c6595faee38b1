package postgres

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// says is a message of a type.
func says(kind byte, texts ...string) string {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(strings.Join(texts, ""))))
	return string(b) + strings.Join(texts, "")
}

// wants is one without a type.
func wants(what uint32, more string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(more)))
	return string(binary.BigEndian.AppendUint32(b, what)) + more
}

var (
	startsUp = wants(3<<16, "user\x00u\x00\x00")
	ready    = says('Z', "I")
	welcome  = says('R', "\x00\x00\x00\x00") + says('S', "server_version\x0015\x00") + says('K', "12345678") + ready
	synced   = says('S')
	flushed  = says('H')
	executed = says('E', "\x00", "\x00\x00\x00\x00")
	bound    = says('2')
	parsed   = says('1')
	columns  = says('T', "\x00\x00")
	row      = says('D', "\x00\x00")
	done     = says('C', "SELECT 1\x00")
	refused  = says('E', "SERROR\x00\x00")
	remark   = says('N', "SNOTICE\x00\x00")
	nobody   = says('A', "\x00\x00\x00\x01channel\x00\x00")
)

func query(statement string) string { return says('Q', statement, "\x00") }

func prepares(name, statement string) string {
	return says('P', name, "\x00", statement, "\x00", "\x00\x00")
}

func describes(name string) string { return says('D', "S", name, "\x00") }

func binds(portal, name string) string {
	return says('B', portal, "\x00", name, "\x00", "\x00\x00\x00\x00\x00\x00")
}

func TestLanguage(t *testing.T) {
	in := []turn{asks(startsUp), answers(welcome)}
	sasl := []turn{asks(startsUp), answers(says('R', "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00")), asks(says('p', "first")), answers(says('R', "\x00\x00\x00\x0b")), asks(says('p', "last")), answers(welcome)}
	tls := []turn{asks("\x16\x03\x01"), answers("\x16\x03")}
	pinged := answers(says('I') + ready)
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"login":                    {sasl, ""},
		"a newer version":          {[]turn{asks(wants(3<<16|2, "\x00")), answers(says('v', "\x00\x00\x00\x00\x00\x00\x00\x00") + welcome), asks(query("select 1")), answers(done + ready)}, "select =select"},
		"refused":                  {[]turn{asks(startsUp), answers(refused)}, ""},
		"refused at once":          {[]turn{answers(refused)}, ""},
		"encrypted":                {append([]turn{asks(wants(80877103, "")), answers("S")}, tls...), "request =request"},
		"encrypted by GSS":         {append([]turn{asks(wants(80877104, "")), answers("G")}, tls...), "request =request"},
		"encrypted without a word": {tls, "request =request"},
		"another version":          {[]turn{asks(wants(2<<16, "")), answers("E?")}, "request =request"},
		"encrypted it can't be":    {[]turn{asks(wants(80877104, "")), answers("N"), asks(wants(80877103, "")), answers("N"), in[0], in[1], asks(query("select 1")), answers(done + ready)}, "select =select"},
		"encrypted it must not be": {[]turn{asks(wants(80877103, "")), answers(refused), in[0], in[1]}, ""},
		"a cancellation":           {[]turn{asks(wants(80877102, "pid secret"))}, ""},
		"a simple query":           {append(in[:2:2], asks(query("/* app */ SELECT pg_advisory_lock(1)")), answers(columns+row+done+ready)), "select =select"},
		"an error":                 {append(in[:2:2], asks(query("insert into l values (1)")), answers(refused+ready)), "insert =insert!"},
		"an error later":           {append(in[:2:2], asks(query("select 1; select 1/0")), answers(columns+row+done+columns, refused+ready), asks(query("commit")), answers(done+ready)), "select =select! commit =commit"},
		"set-up":                   {append(in[:2:2], asks(query("SET a = 1")), answers(done+ready), asks(prepares("", "set b = 2")+describes("")+synced), answers(parsed+says('n')+ready), asks(binds("", "")+executed+synced), answers(bound+refused+ready)), ""},
		"a ping":                   {append(in[:2:2], asks(query("-- ping")), pinged, asks(query("")), pinged, asks(query(";")), pinged, asks(prepares("", "")+binds("", "")+executed+synced), answers(parsed+bound+says('I')+ready)), "ping~ =ping~ ping~ =ping~ ping~ =ping~ ping~ =ping~"},
		"a ping that fails":        {append(in[:2:2], asks(query("-- ping")), answers(refused)), "ping~ =ping~!"},
		"prepared":                 {append(in[:2:2], asks(prepares("a", "Update l")+describes("a")+synced), answers(parsed+says('t', "\x00\x00")+columns+ready), asks(binds("", "a")+executed+synced), answers(bound+done+ready), asks(says('C', "Sa\x00")+synced), answers(says('3')+ready), asks(binds("", "a")+executed+synced), answers(refused+ready)), "prepare =prepare update =update execute =execute!"},
		"prepared in vain":         {append(in[:2:2], asks(prepares("a", "selec")+describes("a")+synced), answers(refused+ready)), "prepare =prepare!"},
		"asked for its types":      {append(in[:2:2], asks(describes("a")+synced), answers(says('t', "\x00\x00")+says('n')+ready)), "describe =describe"},
		"nothing but the end":      {append(in[:2:2], asks(synced), answers(ready), asks(query("select 1")), answers(done+ready)), "select =select"},
		"at once":                  {append(in[:2:2], asks(prepares("", "select $1")+binds("", "")+describes("")+executed+synced), answers(parsed+bound+columns+row, done+ready)), "select =select"},
		"an error between":         {append(in[:2:2], asks(prepares("", "select $1")+binds("", "")+executed+synced), answers(parsed+bound+columns, row+refused+ready)), "select =select!"},
		"an error when it commits": {append(in[:2:2], asks(prepares("", "insert")+binds("", "")+executed+synced), answers(parsed+bound+done+refused+ready)), "insert =insert!"},
		"many in one":              {append(in[:2:2], asks(prepares("", "begin")+binds("", "")+executed+prepares("", "select")+binds("", "")+executed+prepares("", "delete")+binds("", "")+executed+synced), answers(parsed+bound+done+parsed+bound+done+parsed+bound+done+ready)), "select =select"},
		"one that begins":          {append(in[:2:2], asks(prepares("", "begin")+binds("", "")+executed+synced), answers(parsed+bound+done+ready)), "begin =begin"},
		"in a row":                 {append(in[:2:2], asks(query("set a = 1"), query("select 1"), prepares("", "delete")+binds("", "")+executed+synced, query("commit")), answers(done+ready+done+ready+parsed+bound+done+ready+refused+ready)), "select delete commit =select =delete =commit!"},
		"to look at it first":      {append(in[:2:2], asks(prepares("", "select $1")+describes("")+flushed), answers(parsed+says('t', "\x00\x00")+columns), asks(binds("", "")+executed+synced), answers(bound+row+done+ready)), "select =select"},
		"bit by bit":               {append(in[:2:2], asks(prepares("", "select")+binds("p", "")+flushed, says('E', "p\x00", "\x00\x00\x00\x01")+flushed), answers(parsed+bound+row+says('s')), asks(says('E', "p\x00", "\x00\x00\x00\x01")+flushed), answers(row+done), asks(synced), answers(ready), asks(query("commit")), answers(done+ready)), "select =select commit =commit"},
		"without an end":           {append(in[:2:2], asks(prepares("", "select")+binds("", "")+executed+says('X'))), "select"},
		"unasked":                  {append(in[:2:2], answers(nobody+remark+says('S', "a\x00b\x00")), asks(query("select 1")), answers(remark+nobody), answers(columns+remark+row+done+ready, nobody)), "select =select"},
		"data that comes":          {append(in[:2:2], asks(query("copy l to stdout")), answers(says('H', "\x00\x00\x00")), answers(says('d', "1")+says('c')+done+ready), asks(query("commit")), answers(done+ready)), "copy =copy commit =commit"},
		"data that goes":           {append(in[:2:2], asks(query("copy l from stdin")), answers(says('G', "\x00\x00\x00")), asks(says('d', "1"), says('c')), answers(done+ready), asks(query("commit")), answers(done+ready)), "copy =copy commit =commit"},
		"data, and two ends":       {append(in[:2:2], asks(prepares("", "copy l from stdin")+binds("", "")+executed+synced), answers(parsed+bound+says('G', "\x00\x00\x00")), asks(says('d', "1"), says('f', "no\x00"), synced), answers(refused+ready), asks(query("commit")), answers(done+ready)), "copy =copy commit =commit"},
		"a function":               {append(in[:2:2], asks(says('F', "\x00\x00\x00\x01")), answers(says('V', "\xff\xff\xff\xff")+ready)), "function-call =function-call"},
		"a large result":           {append(in[:2:2], asks(query("select 1")), answers(columns+says('D', strings.Repeat("x", enough))), answers(row), answers(refused+ready), asks(query("commit")), answers(done+ready)), "select =select commit =commit"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a large result" {
				wiretest.CheckWhole(t, Language, tc.turns, tc.want)
				return
			}
			wiretest.Check(t, Language, tc.turns, tc.want)
		})
	}
}

// TestTogether: who passes messages on holds the first step of a request with the last, and the first row of an
// answer with the end.
func TestTogether(t *testing.T) {
	c := wire.New(Language)
	c.Said([]byte(startsUp))
	c.Answered([]byte(welcome))
	first, last := prepares("", "select")+binds("", "")+executed, synced
	if all := c.Said([]byte(first)); len(all) > 0 {
		t.Errorf("the server may begin with %v", all)
	}
	if all := c.Said([]byte(last)); len(all) != 1 || string(all[0].Bytes) != first+last {
		t.Errorf("asked %v", all)
	}
	if all := c.Answered([]byte(parsed + bound + row + done)); len(all) > 0 {
		t.Errorf("the client has heard %v", all)
	}
	if all := c.Answered([]byte(ready)); len(all) != 1 || all[0].Request != "select" {
		t.Errorf("answered %v", all)
	}
}

// TestNothingIsHeldBackForGood gives what can't be read.
func TestNothingIsHeldBackForGood(t *testing.T) {
	for name, turns := range map[string][]turn{
		"too short":            {asks("\x00\x00\x00\x04\x00\x03\x00\x00")},
		"too long to begin":    {asks("\x00\x01\x00\x00\x00\x03\x00\x00")},
		"ZooKeeper":            {asks("\x00\x00\x00\x2c\x00\x00\x00\x00")},
		"another answer":       {asks(wants(80877103, "")), answers("H")},
		"no type":              {asks(startsUp, "GET /")},
		"no length":            {asks(startsUp, "Q\x00\x00\x00\x03")},
		"too long":             {asks(startsUp, "Q\x7f\x00\x00\x03")},
		"no type, behind one":  {asks(startsUp, prepares("", "select"), "?")},
		"no answer":            {asks(startsUp), answers("HTTP/1.1 400")},
		"no answer behind one": {asks(startsUp), answers(welcome), asks(query("select 1")), answers(row + "?")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, Language, []string{
		startsUp + query("select 1") + query("-- ping"),
		startsUp + prepares("a", "select") + describes("a") + synced + binds("", "a") + executed + synced,
		startsUp + prepares("", "copy") + binds("", "") + executed + flushed + synced + synced + says('X'),
		wants(80877103, "") + startsUp,
	}, []string{
		welcome + columns + row + done + ready + refused + ready,
		welcome + parsed + bound + remark + says('G', "\x00\x00\x00") + refused + ready,
		"N" + welcome, "S",
	})
}
