package postgres

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/lab"
)

func words(number uint32, text string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(helloSize+len(text)))
	return append(binary.BigEndian.AppendUint32(b, number), text...)
}

// TestHello: who asks for encryption hears that there is none, and what it says then has
// another account and another database, and nothing else.
func TestHello(t *testing.T) {
	in := bytes.NewBuffer(append(append(words(wantsGSS, ""), words(wantsTLS, "")...), words(version<<16, "user\x00lockbench\x00application_name\x00x\x00database\x00lockbench\x00\x00")...))
	var out bytes.Buffer
	h, err := readHello(struct {
		io.Reader
		io.Writer
	}{in, &out})
	if err != nil || out.String() != "NN" {
		t.Fatalf("%q, %v", out.String(), err)
	}
	want := words(version<<16, "user\x00app\x00database\x00benches\x00application_name\x00x\x00\x00")
	if got := h.of(lab.Account{User: "app", Database: "benches"}); !bytes.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestHelloOfOthers: what no client of PostgreSQL says.
func TestHelloOfOthers(t *testing.T) {
	for _, said := range []string{"", "GET / HTTP/1.1\r\n\r\n", string(words(2<<16, "x")), "\x00\x00\x00\x04\x00\x00\x00\x00", "\x00\x00\x00\x09\x00\x03\x00\x00"} {
		if h, err := readHello(struct {
			io.Reader
			io.Writer
		}{strings.NewReader(said), io.Discard}); err == nil {
			t.Errorf("%q is taken for %q", said, h)
		}
	}
}
