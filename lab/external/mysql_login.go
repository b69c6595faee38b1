package external

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"

	lb "github.com/lockbench/lockbench"
)

// The capabilities that a login has to do with, as MySQL's protocol numbers them.
const (
	mysqlWithDB     = 1 << 3
	mysqlTLS        = 1 << 11
	mysqlPluginAuth = 1 << 19
	// What would be said in another way, or behind: attributes of the connection, a proof of any
	// length, the level of zstd.
	mysqlUnsaid = 1<<20 | 1<<21 | 1<<26
)

// What a packet begins with.
const (
	mysqlOK     = 0x00
	mysqlMore   = 0x01
	mysqlSwitch = 0xfe
	mysqlErr    = 0xff
)

// mysqlLogin passes the server's greeting on, and logs in with the client's own words, in
// which the account and the database are replaced: everything that the two agree about
// besides is what the client wants.
func mysqlLogin(r *relay, client, server net.Conn) (net.Conn, error) {
	greeting, _, err := mysqlRead(server)
	if err != nil {
		return nil, err
	}
	if len(greeting) > 0 && greeting[0] == mysqlErr { // such as too many connections
		return nil, errors.Join(mysqlSaid(greeting), mysqlWrite(client, 0, greeting))
	}
	g, err := mysqlGreeting(greeting)
	if err != nil {
		return nil, err
	}
	if err := mysqlWrite(client, 0, g.forClient()); err != nil {
		return nil, fmt.Errorf("%w: %w", errClientGone, err)
	}
	words, _, err := mysqlRead(client)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errClientGone, err)
	}
	const head = 32 // capabilities, longest packet, character set, and nothing
	if len(words) < head {
		return nil, fmt.Errorf("%w: it said too little", errClientGone)
	}
	wants := binary.LittleEndian.Uint32(words)&^mysqlUnsaid | mysqlWithDB | mysqlPluginAuth
	number := byte(1)
	if r.config.tls != nil {
		wants |= mysqlTLS
	}
	binary.LittleEndian.PutUint32(words, wants)
	if r.config.tls != nil {
		if g.capabilities&mysqlTLS == 0 {
			return nil, &tlsError{errors.New("the server offers none")}
		}
		if err := mysqlWrite(server, number, words[:head]); err != nil {
			return nil, err
		}
		number++
		if server, err = r.encrypt(context.Background(), server); err != nil {
			return nil, err
		}
	}
	answer, err := mysqlAuthenticate(r.config, g, server, number, words[:head])
	if err != nil {
		return nil, err
	}
	if err := mysqlWrite(client, 2, answer); err != nil {
		return nil, fmt.Errorf("%w: %w", errClientGone, err)
	}
	if answer[0] == mysqlErr {
		return nil, mysqlSaid(answer)
	}
	return server, nil
}

// mysqlAuthenticate goes on until the server has decided, and returns what it said then.
func mysqlAuthenticate(c *config, g greeting, server net.Conn, number byte, head []byte) ([]byte, error) {
	proof, err := mysqlProve(g.plugin, c, g.salt, server)
	if err != nil {
		return nil, err
	}
	words := append(append(bytes.Clone(head), cmp.Or(c.User, lb.Prefix)...), 0)
	words = append(append(words, byte(len(proof))), proof...)
	words = append(append(words, c.Database...), 0)
	words = append(append(words, g.plugin...), 0)
	if err := mysqlWrite(server, number, words); err != nil {
		return nil, err
	}
	salt := g.salt
	for {
		answer, n, err := mysqlRead(server)
		switch {
		case err != nil:
			return nil, err
		case len(answer) == 0:
			return nil, errors.New("an empty packet")
		}
		var next []byte
		switch {
		case answer[0] == mysqlSwitch:
			name, rest, _ := bytes.Cut(answer[1:], []byte{0})
			salt = bytes.TrimRight(rest, "\x00")
			next, err = mysqlProve(string(name), c, salt, server)
		case answer[0] == mysqlMore && len(answer) == 2 && answer[1] == 3: // it knows the password already
			continue
		case answer[0] == mysqlMore && len(answer) == 2 && answer[1] == 4:
			next, n, err = mysqlWhole(c, salt, server, n)
		default:
			return answer, nil
		}
		if err == nil {
			err = mysqlWrite(server, n+1, next)
		}
		if err != nil {
			return nil, err
		}
	}
}

// mysqlProve is what a plugin wants to see of the password.
func mysqlProve(plugin string, c *config, salt []byte, server net.Conn) ([]byte, error) {
	_, private := server.(*tls.Conn)
	switch {
	case c.Password == "":
		return nil, nil
	case len(salt) == 0:
		return nil, errors.New("it sent nothing to mix the password with")
	case plugin == "mysql_native_password":
		once := sha1.Sum([]byte(c.Password))
		twice := sha1.Sum(once[:])
		mixed := sha1.Sum(append(bytes.Clone(salt), twice[:]...))
		return xor(once[:], mixed[:]), nil
	case plugin == "caching_sha2_password":
		once := sha256.Sum256([]byte(c.Password))
		twice := sha256.Sum256(once[:])
		mixed := sha256.Sum256(append(twice[:], salt...))
		return xor(once[:], mixed[:]), nil
	case plugin == "mysql_clear_password" && private:
		return append([]byte(c.Password), 0), nil
	}
	return nil, fmt.Errorf("%w: the account is of the kind %s, and lockbench knows mysql_native_password and caching_sha2_password", errNotLetIn, plugin)
}

// mysqlWhole is the password itself, for a server that has not seen it yet: as it is where
// nobody can read it, else for the server's own key.
func mysqlWhole(c *config, salt []byte, server net.Conn, number byte) ([]byte, byte, error) {
	secret := append([]byte(c.Password), 0)
	if _, private := server.(*tls.Conn); private {
		return secret, number, nil
	}
	const yourKey = 2
	if err := mysqlWrite(server, number+1, []byte{yourKey}); err != nil {
		return nil, 0, err
	}
	answer, number, err := mysqlRead(server)
	if err != nil {
		return nil, 0, err
	}
	block, _ := pem.Decode(answer[min(1, len(answer)):])
	if block == nil {
		return nil, 0, fmt.Errorf("%w: it gave no key for the password: use TLS", errNotLetIn)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, 0, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, 0, fmt.Errorf("%w: its key is none of RSA", errNotLetIn)
	}
	sealed, err := rsa.EncryptOAEP(sha1.New(), rand.Reader, public, xor(secret, salt), nil)
	return sealed, number, err
}

// xor mixes in the salt, again and again.
func xor(text, salt []byte) []byte {
	mixed := make([]byte, len(text))
	for i := range text {
		mixed[i] = text[i] ^ salt[i%len(salt)]
	}
	return mixed
}

// greeting is what a server says first.
type greeting struct {
	text         []byte
	capabilities uint32
	flags        int // where the lower half of them is
	salt         []byte
	plugin       string
	named        int // where the plugin's name begins
}

func mysqlGreeting(text []byte) (g greeting, err error) {
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
	binary.LittleEndian.PutUint16(text[g.flags:], low&^mysqlTLS)
	return append(append(text, "mysql_native_password"...), 0)
}

func mysqlRead(from io.Reader) (packet []byte, number byte, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, 0, err
	}
	packet = make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err = io.ReadFull(from, packet)
	return packet, head[3], err
}

func mysqlWrite(to io.Writer, number byte, packet []byte) error {
	n := len(packet)
	_, err := to.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), number}, packet...))
	return err
}

// mysqlSaid is an error packet: its number, its state, its text.
func mysqlSaid(packet []byte) error {
	const text = 9
	if len(packet) < text {
		return errNotLetIn
	}
	return fmt.Errorf("%w: error %d: %s", errNotLetIn, binary.LittleEndian.Uint16(packet[1:]), packet[text:])
}
