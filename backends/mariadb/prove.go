package mariadb

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"

	"github.com/lockbench/lockbench/lab"
)

// prove is what a plugin wants to see of the password.
func prove(plugin string, as lab.Account, salt []byte, server net.Conn) ([]byte, error) {
	_, private := server.(*tls.Conn)
	switch {
	case as.Password == "":
		return nil, nil
	case len(salt) == 0:
		return nil, errors.New("it sent nothing to mix the password with")
	case plugin == "mysql_native_password":
		once := sha1.Sum([]byte(as.Password))
		twice := sha1.Sum(once[:])
		mixed := sha1.Sum(append(bytes.Clone(salt), twice[:]...))
		return xor(once[:], mixed[:]), nil
	case plugin == "caching_sha2_password":
		once := sha256.Sum256([]byte(as.Password))
		twice := sha256.Sum256(once[:])
		mixed := sha256.Sum256(append(twice[:], salt...))
		return xor(once[:], mixed[:]), nil
	case plugin == "mysql_clear_password" && private:
		return append([]byte(as.Password), 0), nil
	}
	return nil, fmt.Errorf("%w: the account is of the kind %s, and lockbench knows mysql_native_password and caching_sha2_password", lab.ErrNotLetIn, plugin)
}

// whole is the password itself, for a server that has not seen it yet: as it is where
// nobody can read it, else for the server's own key.
func whole(as lab.Account, salt []byte, server net.Conn, number byte) ([]byte, byte, error) {
	secret := append([]byte(as.Password), 0)
	if _, private := server.(*tls.Conn); private {
		return secret, number, nil
	}
	const yourKey = 2
	if err := writePacket(server, number+1, []byte{yourKey}); err != nil {
		return nil, 0, err
	}
	answer, number, err := readPacket(server)
	if err != nil {
		return nil, 0, err
	}
	block, _ := pem.Decode(answer[min(1, len(answer)):])
	if block == nil {
		return nil, 0, fmt.Errorf("%w: it gave no key for the password: use TLS", lab.ErrNotLetIn)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, 0, err
	}
	public, ok := key.(*rsa.PublicKey)
	if !ok {
		return nil, 0, fmt.Errorf("%w: its key is none of RSA", lab.ErrNotLetIn)
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
