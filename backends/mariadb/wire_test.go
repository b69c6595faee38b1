package mariadb_test

import (
	"testing"

	"github.com/lockbench/lockbench/backends/mariadb"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// packet is one of a number.
func packet(n byte, payload string) string {
	return string([]byte{byte(len(payload)), 0, 0, n}) + payload
}

var greetingOf = packet(0, "\x0a10.11\x00more")

func TestMySQL(t *testing.T) {
	const ok, failed, rows = "\x00\x00", "\xff\x15\x04#no", "\x01"
	hello, login := answers(greetingOf), asks(packet(1, "\x85\xa6\xff\x00login"))
	in := answers(packet(2, ok))
	query := func(statement string) string { return packet(0, "\x03"+statement) }
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"login":            {[]turn{hello, login, answers(packet(2, "\xfeplugin")), asks(packet(3, "password")), answers(packet(4, ok))}, ""},
		"refused at once":  {[]turn{answers(packet(0, failed))}, ""},
		"encrypted":        {[]turn{hello, asks(packet(1, "\x85\xae\xff\x00")), asks("\x16\x03\x01"), answers("\x16\x03")}, "request =request"},
		"set-up":           {[]turn{hello, login, in, asks(query("SET a=1")), answers(packet(1, ok)), asks(packet(0, "\x02db")), answers(packet(1, ok))}, ""},
		"a ping":           {[]turn{hello, login, in, asks(packet(0, "\x0e")), answers(packet(1, ok))}, "ping~ =ping~"},
		"rows":             {[]turn{hello, login, in, asks(query("SELECT 1")), answers(packet(1, rows), packet(2, "column"), packet(3, "row"), packet(4, "\xfe"))}, "select =select"},
		"an error":         {[]turn{hello, login, in, asks(query("insert into l values (1)")), answers(packet(1, failed))}, "insert =insert!"},
		"an error later":   {[]turn{hello, login, in, asks(query("SELECT 1")), answers(packet(1, rows), packet(2, failed))}, "select =select"},
		"prepared":         {[]turn{hello, login, in, asks(packet(0, "\x16SELECT ?")), answers(packet(1, ok), packet(2, "parameter")), asks(packet(0, "\x18data"), packet(0, "\x171")), answers(packet(1, rows)), asks(packet(0, "\x191"), packet(0, "\x01"))}, "prepare =prepare execute =execute"},
		"in a row":         {[]turn{hello, login, in, asks(query("SET a=1"), query("DO GET_LOCK('a',1)"), query("kill 3")), answers(packet(1, ok), packet(1, ok), packet(1, failed))}, "do kill =do =kill!"},
		"words":            {[]turn{hello, login, in, asks(query("/* app */ -- "), query(" /*a*/\n(SELECT 1)"), query("\x00\x01COMMIT"), query("begin;")), answers(packet(1, ok), packet(1, ok), packet(1, ok), packet(1, ok))}, "query select commit begin =query =select =commit =begin"},
		"rarer commands":   {[]turn{hello, login, in, asks(packet(0, "\x09")), answers(packet(1, "up"))}, "command 0x9 =command 0x9"},
		"nothing to say":   {[]turn{hello, login, in, asks(packet(0, "")), answers(packet(1, ""))}, ""},
		"told to go":       {[]turn{hello, login, in, answers(packet(0, failed))}, ""},
		"who asks no more": {[]turn{hello, login, in, asks(packet(0, "\x01"))}, ""},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, mariadb.Language, tc.turns, tc.want) })
	}
}

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	tls := []turn{asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")}
	for name, turns := range map[string][]turn{
		"another greeting": {answers("220 here is a server\r\n"), answers("more"), asks("HELO"), answers("250")},
		"an old greeting":  {answers(packet(0, "\x093.20\x00")), asks(packet(1, "login")), answers(packet(2, ""))},
		"a client begins":  tls,
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, mariadb.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not.
func TestNothingIsHeldBackForGood(t *testing.T) {
	for name, turns := range map[string][]turn{
		"encrypted from now": {answers(greetingOf), asks(packet(1, "\x00\x08\x00\x00")), asks("\x16"), answers("\x16")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, mariadb.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, mariadb.Language, []string{packet(1, "login") + packet(0, "\x03/*a*/SELECT")},
		[]string{greetingOf + packet(1, "\xff")})
}
