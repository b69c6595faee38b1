package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// Namespace is where locks are kept. Every cluster has it.
const Namespace = "default"

const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/" + Namespace + "/leases"

// leases asks for all of them: how many there are, and the last change of one that is there.
func leases(ctx context.Context, endpoint string) (count int, last uint64, err error) {
	_, text, err := web.Ask(ctx, web.Once, http.MethodGet, "http://"+endpoint+leasesPath, "")
	if err != nil {
		return 0, 0, err
	}
	var found struct {
		Items []struct {
			Metadata struct{ ResourceVersion string }
		}
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return 0, 0, fmt.Errorf("%s: %w", leasesPath, err)
	}
	for _, lease := range found.Items {
		version, err := strconv.ParseUint(lease.Metadata.ResourceVersion, 10, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: a version: %w", leasesPath, err)
		}
		last = max(last, version)
	}
	return len(found.Items), last, nil
}

// keeps counts Leases.
func keeps(ctx context.Context, endpoint string) (lab.Keeps, error) {
	n, _, err := leases(ctx, endpoint)
	return lab.Keeps{"leases": n}, err
}

// counts is the version of the Lease that was changed last. Locks delete none.
func counts(endpoint string) (lab.Counting, error) {
	return lab.Counting{Close: func() {}, Ask: func(ctx context.Context) (lab.Count, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, last, err := leases(ctx, endpoint)
		return lab.Count{Changes: last}, err
	}}, nil
}

// deleteAll is `kubectl delete leases --all`: whoever holds a lock has nothing to say about it.
func deleteAll(ctx context.Context, at lab.Target) (lab.Effect, error) {
	n, _, err := leases(ctx, at.Endpoint)
	if err != nil {
		return lab.Effect{}, err
	}
	_, _, err = web.Ask(ctx, web.Once, http.MethodDelete, "http://"+at.Endpoint+leasesPath, "")
	return lab.Effect{Count: n, Told: "forgot " + english.Count(n, "lease")}, err
}
