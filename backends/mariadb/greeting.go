package mariadb

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// greeting is what a server says first.
type greeting struct {
	text         []byte
	capabilities uint32
	flags        int // where the lower half of them is
	salt         []byte
	plugin       string
	named        int // where the plugin's name begins
}

func greet(text []byte) (g greeting, err error) {
	const version, firstSalt, between, secondSalt = 10, 8, 18, 13
	end := bytes.IndexByte(text, 0)
	if len(text) == 0 || text[0] != version || end < 0 {
		return g, errors.New("it does not greet as MySQL does")
	}
	salt := end + 1 + 4 // behind the number of the connection
	g.flags = salt + firstSalt + 1
	if len(text) < g.flags+between+secondSalt {
		return g, errors.New("it greets as a MySQL that is too old")
	}
	g.text = text
	g.capabilities = uint32(binary.LittleEndian.Uint16(text[g.flags:])) | uint32(binary.LittleEndian.Uint16(text[g.flags+5:]))<<16
	rest := max(secondSalt, int(text[g.flags+7])-firstSalt)
	g.named = min(len(text), g.flags+between+rest)
	g.salt = append(bytes.Clone(text[salt:salt+firstSalt]), bytes.TrimRight(text[g.flags+between:g.named], "\x00")...)
	name, _, _ := bytes.Cut(text[g.named:], []byte{0})
	g.plugin = string(name)
	return g, nil
}

// forClient is the greeting to one who has no password, and no need of TLS.
func (g greeting) forClient() []byte {
	text := bytes.Clone(g.text[:g.named])
	low := binary.LittleEndian.Uint16(text[g.flags:])
	binary.LittleEndian.PutUint16(text[g.flags:], low&^canTLS)
	return append(append(text, "mysql_native_password"...), 0)
}
