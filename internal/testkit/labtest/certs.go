package labtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certs are files in PEM: an authority, and one certificate by it, which any program on a
// loopback address may show, as a server and as a client.
type Certs struct{ CA, Cert, Key string }

// NewCerts makes them for the time of the test, for a server at the name "lockbench.test".
func NewCerts(t testing.TB) Certs {
	t.Helper()
	dir := t.TempDir()
	c := Certs{filepath.Join(dir, "ca.pem"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, IsCA: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	own := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "lockbench"}, DNSNames: []string{CertName},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(what *x509.Certificate, of *ecdsa.PrivateKey) []byte {
		der, err := x509.CreateCertificate(rand.Reader, what, authority, &of.PublicKey, authorityKey)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	for file, block := range map[string]pem.Block{
		c.CA:   {Type: "CERTIFICATE", Bytes: signed(authority, authorityKey)},
		c.Cert: {Type: "CERTIFICATE", Bytes: signed(own, key)},
		c.Key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(&block), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// CertName is the name that the certificate is for.
const CertName = "lockbench.test"
