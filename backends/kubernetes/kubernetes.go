// Package kubernetes is the control plane of Kubernetes as a backend: its servers, and what people do to them. Its locks are
// in impls/kubernetes. The kube-apiserver is an install of its own, since it takes minutes to build (docker/kubernetes).
package kubernetes

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of control planes as kubeadm has them, with an etcd on each machine. Each kube-apiserver asks the one
// beside it; which of them leads is of no consequence to clients, but for how far away it is.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "kubernetes", Doc: "one kube-apiserver on an etcd (make kube-apiserver build)", Kind: machine, Servers: 1},
		{Name: "kubernetes-3", Doc: "three kube-apiservers, each beside a member of an etcd cluster (make kube-apiserver build)", Kind: machine, Servers: 3},
	}
}

// binary is where make kube-apiserver and make test-kubernetes put it; else the one in PATH is as good.
var binary = func() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "kube-apiserver"
	}
	return filepath.Join(cache, "lockbench", "kube*-*", "kube-apiserver")
}()

// machine is the kind of its servers. Nobody moves their clocks: those of clients decide.
var machine = lab.Kind{
	Name: "kubernetes", Software: software, Speaks: Language, Yardstick: Yardstick,
	Needs: []string{binary}, Make: "kube-apiserver build", Version: lab.Version{Of: "kube-apiserver", Command: []string{binary, "--version"}},
	Program: program, Grows: true, Quorum: true,
	Leads: leads, Counts: counts, Keeps: keeps, Commands: commands(), Replace: replace,
}

// software takes options of kube-apiserver, by its flags.
var software = lab.Software{Name: "kube-apiserver",
	Option: func(p lab.Program, name, value string) lab.Program {
		p.Argv = slices.Insert(slices.Clone(p.Argv), slices.Index(p.Argv, "--"), "--"+name+"="+value)
		return p
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Argv = slices.Clone(p.Argv)
		p.Argv[ofBinary] = path
		return p
	}}
