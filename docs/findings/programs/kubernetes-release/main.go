// Does a leader that could not renew its Lease, and resigns when it hears again, free the Lease of its successor?
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

var addr = append(os.Args, "localhost:8001")[1] // of a kubectl proxy
var cut atomic.Bool // the network of the first

type first struct{}

func (first) RoundTrip(r *http.Request) (*http.Response, error) {
	for cut.Load() && r.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// lead returns, when somebody leads, a context that ends when they are told that they don't any more.
func lead(name string, by http.RoundTripper) context.Context {
	led, deadline := make(chan context.Context), 2*time.Second
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", fmt.Sprintf("released-%d", os.Getpid()),
		resourcelock.ResourceLockConfig{Identity: name}, &rest.Config{Host: "http://" + addr, Transport: by}, deadline)
	if err != nil {
		panic(err)
	}
	go leaderelection.RunOrDie(context.Background(), leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: deadline, RetryPeriod: 400 * time.Millisecond, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(ctx context.Context) { led <- ctx }, OnStoppedLeading: func() {}}})
	ctx := <-led
	fmt.Println(name, "leads")
	return ctx
}

func main() {
	klog.SetLogger(klog.Logger{}) // which writes nothing
	one := lead("first", first{})
	cut.Store(true)
	two := lead("second", http.DefaultTransport)
	fmt.Println("first, which is cut off, has been told:", one.Err() != nil)
	cut.Store(false)
	begun := time.Now()
	lead("third", http.DefaultTransport)
	fmt.Printf("that was %.1f s after first was heard again; second has been told: %v\n", time.Since(begun).Seconds(), two.Err() != nil)
	if two.Err() != nil || time.Since(begun) > 2*time.Second {
		os.Exit(1)
	}
}
