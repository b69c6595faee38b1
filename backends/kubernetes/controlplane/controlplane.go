// Package controlplane is a machine of a Kubernetes control plane, as far as leases are concerned, as a part of this
// program: an etcd, the kube-apiserver that stands on it, and the front at which clients reach that. The
// kube-apiserver is a program of its own.
package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"k8s.io/client-go/util/keyutil"

	"github.com/lockbench/lockbench/backends/etcd/etcdserver"
	"github.com/lockbench/lockbench/lab"
)

// The ports of a machine's programs, beside that of the front.
const (
	StorePort = 2379
	apiPort   = 6443
)

// patience is how long a kube-apiserver, or the etcd below it, may take to end.
const patience = 5 * time.Second

// token is what the front is known by.
const token = "lockbench-front"

// What a machine is in its cluster: the first begins it, and the others join.
const (
	First = "first"
	Joins = "joins"
)

// Serve runs a machine until ctx ends. args are what it is in its cluster, the front's address, a directory for secrets, the
// command of the kube-apiserver, which gets more options, "--" and the flags of etcd.
func Serve(ctx context.Context, args []string) error {
	end := slices.Index(args, "--")
	if end < 4 {
		return errors.New("serve a control plane: first|joins ADDRESS DIR KUBE-APISERVER [OPTION …] -- ETCD-FLAG … is what it takes")
	}
	front, dir, command, store := args[1], args[2], args[3:end], args[end+1:]
	if err := writeSecrets(dir); err != nil {
		return fmt.Errorf("write the API server's secrets: %w", err)
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	below, stop := context.WithCancel(context.WithoutCancel(ctx)) // it ends after what stands on it
	stored := make(chan struct{})
	go func() {
		defer close(stored)
		if err := etcdserver.Serve(below, store); err != nil {
			fail(fmt.Errorf("serve a control plane: its etcd has ended: %w", err))
		}
	}()
	defer func() {
		stop()
		await(stored) // who leads hands that over
	}()
	if err := serve(ctx, args[0] == Joins, front, dir, command); err != nil && ctx.Err() == nil {
		return err
	}
	if why := context.Cause(ctx); !errors.Is(why, context.Canceled) {
		return why
	}
	return nil
}

// serve runs what stands on the etcd, until ctx ends.
func serve(ctx context.Context, joins bool, front, dir string, command []string) error {
	host, _, err := net.SplitHostPort(front)
	if err != nil {
		return err
	}
	if joins {
		if err := awaitFirst(ctx, host); err != nil {
			return fmt.Errorf("wait for the first of the cluster: %w", err)
		}
	}
	thread, err := lab.NewLauncher(nil)
	if err != nil {
		return err
	}
	defer thread.Close()
	api, err := lab.StartChild(ctx, thread, lab.Place{Name: "kube-apiserver", Addr: host}, lab.Program{
		Argv: slices.Concat(command[:1], options(host, dir), command[1:]), Port: apiPort, Ready: ready, Log: os.Stderr,
	})
	if err != nil {
		return err
	}
	defer api.Kill()
	l, err := net.Listen("tcp", front)
	if err != nil {
		return fmt.Errorf("serve the front: %w", err)
	}
	s, ended := &http.Server{Handler: newFront(api.Endpoint())}, make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-api.Done():
		return fmt.Errorf("kube-apiserver has ended: %w", api.Wait())
	case <-ctx.Done(): // whoever ends a server in good order tells all its processes, and a second word would end this one at once
		_ = s.Close()
		await(api.Done())
		return nil
	}
}

// await waits for something to end, as long as that may take.
func await(done <-chan struct{}) {
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// options are what is needed, and what a bench can't have: accounts of pods, of which there are none, an address that is
// announced to them, and a Lease of the server's own, renewed every 10 s, among those of locks.
func options(host, dir string) []string {
	key := filepath.Join(dir, keyFile)
	return []string{
		"--etcd-servers=http://" + net.JoinHostPort(host, strconv.Itoa(StorePort)),
		"--bind-address=" + host, "--advertise-address=" + host, "--secure-port=" + strconv.Itoa(apiPort),
		"--cert-dir=" + dir, "--token-auth-file=" + filepath.Join(dir, tokenFile), "--authorization-mode=AlwaysAllow",
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + key, "--service-account-signing-key-file=" + key,
		"--service-cluster-ip-range=10.242.0.0/24", "--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none", "--feature-gates=APIServerIdentity=false", "--profiling=false",
	}
}

const tokenFile, keyFile = "tokens.csv", "service-accounts.key"

// writeSecrets writes who may ask, and the key that kube-apiserver does not start without. Its certificate it makes itself.
func writeSecrets(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, tokenFile), []byte(token+",lockbench,lockbench,system:masters\n"), 0o600); err != nil {
		return err
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := keyutil.MarshalPrivateKeyToPEM(private)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, keyFile), key, 0o600)
}
