//go:build apiserver

// Does a leader that stood still, and is told to end as it goes on, free the Lease of its successor?
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

var addr = append(os.Args, "localhost:8001")[1] // of a kubectl proxy
// stand stands for election until ctx ends, and calls led with a context that ends when it leads no more.
func stand(ctx context.Context, lease, name string, led func(context.Context)) {
	lock, _ := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", lease, resourcelock.ResourceLockConfig{Identity: name},
		&rest.Config{Host: "http://" + addr}, 2*time.Second)
	leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 400 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: led, OnStoppedLeading: func() {}}})
}
func main() {
	klog.SetLogger(klog.Logger{})
	if len(os.Args) > 2 { // the first, in a process of its own
		ctx, _ := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		stand(ctx, os.Args[2], "first", func(context.Context) { fmt.Println("first leads") })
		return
	}
	for n := range 10 { // the second may take its Lease again before anybody else does
		lease, led := fmt.Sprintf("freed-%d-%d", os.Getpid(), n), make(chan context.Context, 4)
		first := exec.Command(os.Args[0], addr, lease)
		said, _ := first.StdoutPipe()
		_ = first.Start()
		fmt.Fscanln(said, new(string), new(string))
		_ = first.Process.Signal(syscall.SIGSTOP)
		for _, name := range []string{"a", "b", "c", "d"} {
			go stand(context.Background(), lease, name, func(ctx context.Context) { led <- ctx })
		}
		second := <-led
		_, _ = first.Process.Signal(syscall.SIGTERM), first.Process.Signal(syscall.SIGCONT)
		select {
		case <-led:
			if second.Err() == nil { // else it has been told
				fmt.Println("first stood still and was told to end: a second and a third lead, and the second has not been told")
				return
			}
		case <-time.After(2 * time.Second):
		}
	}
	os.Exit(1)
}
