package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority signs the certificates of one cluster, and is forgotten when it is up.
type authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
	serial      int64
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "lockbench-kubernetes"}, key)
	return &authority{certificate: certificate, key: key}, err
}

// pem is the authority's certificate, which everybody may know.
func (a *authority) pem() []byte { return encode(a.certificate.Raw) }

// issue signs a certificate for a user in groups, or for a server with addresses and names.
func (a *authority) issue(user string, groups []string, hosts ...string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	a.serial++
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial),
		Subject:      pkix.Name{CommonName: user, Organization: groups},
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     time.Now().Add(365 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if address := net.ParseIP(host); address != nil {
			template.IPAddresses = append(template.IPAddresses, address)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = keyutil.MarshalPrivateKeyToPEM(private)
	return encode(der), key, err
}

// kubeconfig writes how a user reaches the API server at an address.
func (a *authority) kubeconfig(path, address, user string, groups ...string) error {
	certificate, key, err := a.issue(user, groups)
	if err != nil {
		return err
	}
	const name = "lockbench"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: "https://" + address, CertificateAuthorityData: a.pem()}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: certificate, ClientKeyData: key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}

// writeSecrets makes what the control plane and the nodes need to know each other by, and the
// user's kubeconfig, which names the address on this machine's loopback.
func (c cluster) writeSecrets(door string) error {
	a, err := newAuthority()
	if err != nil {
		return err
	}
	inside := net.JoinHostPort(controlPlane, apiPort)
	const masters = "system:masters"
	err = errors.Join(
		os.WriteFile(c.secret("ca.crt"), a.pem(), 0o600),
		c.writePair(a, "apiserver", "kube-apiserver", nil,
			controlPlane, serviceOfAPI, "127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"),
		c.writePair(a, "kubelet-client", "kube-apiserver", []string{masters}),
		c.writePair(a, "service-accounts", "service-accounts", nil),
		a.kubeconfig(c.secret("kube-controller-manager"), inside, "system:kube-controller-manager"),
		a.kubeconfig(c.secret("kube-scheduler"), inside, "system:kube-scheduler"),
		a.kubeconfig(c.secret("kube-proxy"), inside, "system:kube-proxy"),
		a.kubeconfig(c.kubeconfig(), door, "admin", masters),
	)
	for number := 1; number <= c.Nodes; number++ {
		name := nodeName(number)
		err = errors.Join(err, a.kubeconfig(c.secret(name), inside, "system:node:"+name, "system:nodes"))
	}
	return err
}

// writePair writes a certificate and its key.
func (c cluster) writePair(a *authority, name, user string, groups []string, hosts ...string) error {
	certificate, key, err := a.issue(user, groups, hosts...)
	return errors.Join(err,
		os.WriteFile(c.secret(name+".crt"), certificate, 0o600),
		os.WriteFile(c.secret(name+".key"), key, 0o600))
}

func (c cluster) secret(name string) string { return filepath.Join(c.secrets(), name) }

func encode(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate})
}
