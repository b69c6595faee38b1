package external

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/goccy/go-yaml"

	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// config is where the servers are and how one gets in. It has secrets: it is never written.
type config struct {
	Servers   []string `yaml:"servers"`
	Sentinels []string `yaml:"sentinels"`
	// Master is what the Sentinels call it.
	Master   string `yaml:"master"`
	User     string `yaml:"user"`
	Password string `yaml:"password"`
	// Database is that of a server that has several, for the tables of the locks.
	Database string   `yaml:"database"`
	TLS      *tlsPart `yaml:"tls"`
	// Commands strike the servers, by the names of faults.
	Commands map[string]lab.ShellCommand `yaml:"commands"`

	tls *tls.Config // nil without TLS
	by  string      // what the mark of a run says

	guest atomic.Pointer[lab.Guest] // of the servers that were taken for a run last
}

// tlsPart names files in PEM. Without a CA it is the system's.
type tlsPart struct {
	CA         string `yaml:"ca"`
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server-name"`
}

// keys are those of the file, tlsKeys those of its part tls, and commandKeys those of a command.
var (
	keys        = []string{"servers", "sentinels", "master", "user", "password", "database", "tls", "commands"}
	tlsKeys     = []string{"ca", "cert", "key", "server-name"}
	commandKeys = []string{"do", "undo"}
)

// keysBeside are those that may stand where the file has the unknown key.
func keysBeside(key string, text []byte) []string {
	var all map[string]any
	_ = yaml.Unmarshal(text, &all) // it was read before, up to the key
	tls, _ := all["tls"].(map[string]any)
	if _, there := all[key]; there && !slices.Contains(keys, key) {
		return keys
	}
	if _, there := tls[key]; there && !slices.Contains(tlsKeys, key) {
		return tlsKeys
	}
	return commandKeys
}

// The variables of the environment, each of which counts more than the file.
const (
	userVariable     = "LOCKBENCH_USER"
	passwordVariable = "LOCKBENCH_PASSWORD"
	databaseVariable = "LOCKBENCH_DATABASE"
	tlsVariable      = "LOCKBENCH_TLS"
	caVariable       = "LOCKBENCH_TLS_CA"
	certVariable     = "LOCKBENCH_TLS_CERT"
	keyVariable      = "LOCKBENCH_TLS_KEY"
	nameVariable     = "LOCKBENCH_TLS_SERVER_NAME"
)

// read makes sense of addresses, HOST:PORT with commas between them, or of a file's path.
func read(addrs string) (*config, error) {
	c := &config{by: newMark()}
	switch text, err := os.ReadFile(addrs); {
	case err == nil:
		d := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
		if err := d.Decode(c); err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", addrs, errors.New(unquoted(err, text)))
		}
	case strings.Contains(addrs, ":"):
		for one := range strings.SplitSeq(addrs, ",") {
			c.Servers = append(c.Servers, strings.TrimSpace(one))
		}
	default:
		return nil, fmt.Errorf("%q is neither HOST:PORT nor a file: %w", addrs, err)
	}
	c.environment()
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", addrs, err)
	}
	return c, c.trust()
}

// unquoted is what is wrong with a file, without the lines of it: one may be a password.
func unquoted(err error, text []byte) string {
	var bad yaml.Error
	if !errors.As(err, &bad) || bad.GetToken() == nil {
		return "it is no YAML of servers"
	}
	line := bad.GetToken().Position.Line
	if unknown := (*yaml.UnknownFieldError)(nil); errors.As(err, &unknown) {
		return fmt.Sprintf("line %d: %s%s", line, unknown.Message, english.Near(bad.GetToken().Value, keysBeside(bad.GetToken().Value, text)))
	}
	return fmt.Sprintf("line %d is not as docs/your-servers.md has it", line)
}

func (c *config) environment() {
	c.User = cmp.Or(os.Getenv(userVariable), c.User)
	c.Password = cmp.Or(os.Getenv(passwordVariable), c.Password)
	c.Database = cmp.Or(os.Getenv(databaseVariable), c.Database, "lockbench")
	files := tlsPart{os.Getenv(caVariable), os.Getenv(certVariable), os.Getenv(keyVariable), os.Getenv(nameVariable)}
	if on := os.Getenv(tlsVariable); on == "" && files == (tlsPart{}) {
		return
	}
	if c.TLS == nil {
		c.TLS = &tlsPart{}
	}
	c.TLS = &tlsPart{cmp.Or(files.CA, c.TLS.CA), cmp.Or(files.Cert, c.TLS.Cert), cmp.Or(files.Key, c.TLS.Key), cmp.Or(files.ServerName, c.TLS.ServerName)}
}

func (c *config) check() error {
	if len(c.Servers) == 0 {
		return errors.New("it names no servers")
	}
	seen := map[string]bool{}
	for _, addr := range append(append([]string{}, c.Servers...), c.Sentinels...) {
		host, port, err := net.SplitHostPort(addr)
		if err != nil || host == "" || port == "" {
			return fmt.Errorf("address %q is not HOST:PORT", addr)
		}
		if seen[addr] {
			return fmt.Errorf("address %s is there twice", addr)
		}
		seen[addr] = true
	}
	if (c.Master != "") != (len(c.Sentinels) > 0) {
		return errors.New("sentinels and the name that they have for their master go together: give both, or neither")
	}
	return nil
}

// trust reads the files of TLS.
func (c *config) trust() error {
	if c.TLS == nil {
		return nil
	}
	c.tls = &tls.Config{ServerName: c.TLS.ServerName, MinVersion: tls.VersionTLS12}
	if c.TLS.CA != "" {
		pem, err := os.ReadFile(c.TLS.CA)
		if err != nil {
			return fmt.Errorf("read the certificate authority: %w", err)
		}
		c.tls.RootCAs = x509.NewCertPool()
		if !c.tls.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s has no certificate in PEM", c.TLS.CA)
		}
	}
	if c.TLS.Cert != "" || c.TLS.Key != "" {
		own, err := tls.LoadX509KeyPair(c.TLS.Cert, c.TLS.Key)
		if err != nil {
			return fmt.Errorf("read the certificate of this client: %w", err)
		}
		c.tls.Certificates = []tls.Certificate{own}
	}
	return nil
}

// hidden is an environment without the secrets.
func hidden(environment []string) (rest []string) {
	for _, v := range environment {
		if !strings.HasPrefix(v, passwordVariable+"=") {
			rest = append(rest, v)
		}
	}
	return rest
}
