package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Clean removes the containers and networks of labs whose owner has died without
// closing them, and names what it removed. What belongs to a living process, or
// to one on a machine that this one can't see, is left alone.
func Clean(ctx context.Context) (removed []string, err error) {
	engine, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	all := make(client.Filters).Add("label", labelLab)
	return removeAll(ctx, engine, all, func(labels map[string]string) bool { return !ownerOf(labels).mayLive(local(engine)) })
}

// removeAll removes those containers and networks that are wanted, and names them. Whoever
// was killed may have left the engine with a container that it has yet to make.
func removeAll(ctx context.Context, engine *client.Client, of client.Filters, wanted func(labels map[string]string) bool) (removed []string, err error) {
	const (
		times = 3
		pause = 300 * time.Millisecond
	)
	for range times {
		gone, err := removeOnce(ctx, engine, of, wanted)
		removed = append(removed, gone...)
		if err == nil && len(gone) == 0 {
			return removed, nil
		}
		if err != nil {
			select {
			case <-ctx.Done():
				return removed, err
			case <-time.After(pause): // somebody else's removal may be under way
			}
		}
	}
	gone, err := removeOnce(ctx, engine, of, wanted)
	return append(removed, gone...), err
}

func removeOnce(ctx context.Context, engine *client.Client, of client.Filters, wanted func(labels map[string]string) bool) (removed []string, err error) {
	// Containers first: a network can't go while one is on it.
	containers, err := engine.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: of})
	if err != nil {
		return nil, fmt.Errorf("docker: list containers: %w", err)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for _, c := range containers.Items {
		if wanted(c.Labels) {
			wg.Go(func() {
				name := "container " + strings.TrimPrefix(strings.Join(c.Names, " "), "/")
				err := removeContainer(ctx, engine, c.ID)
				mu.Lock()
				defer mu.Unlock()
				removed, errs = note(removed, errs, name, err)
			})
		}
	}
	wg.Wait()
	networks, err := engine.NetworkList(ctx, client.NetworkListOptions{Filters: of})
	if err != nil {
		return removed, errors.Join(append(errs, fmt.Errorf("docker: list networks: %w", err))...)
	}
	for _, n := range networks.Items {
		if wanted(n.Labels) {
			removed, errs = note(removed, errs, "network "+n.Name, removeNetwork(ctx, engine, n.ID))
		}
	}
	return removed, errors.Join(errs...)
}

// note adds what was tried to one of the two lists.
func note(removed []string, errs []error, name string, err error) ([]string, []error) {
	if err != nil {
		return removed, append(errs, fmt.Errorf("docker: remove %s: %w", name, err))
	}
	return append(removed, name), errs
}

// removeContainer removes it with its volumes, paused or running. One that is
// gone already, or just going, is no error.
func removeContainer(ctx context.Context, engine *client.Client, id string) error {
	_, err := engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) && strings.Contains(err.Error(), "already in progress") {
		return nil
	}
	return err
}

// removeNetwork removes it, whoever is still on it: a container that is not the lab's, or
// one that the engine lost when the machine failed, whose place on the network it still
// keeps. One that is gone already is no error.
func removeNetwork(ctx context.Context, engine *client.Client, id string) error {
	_, err := engine.NetworkRemove(ctx, id, client.NetworkRemoveOptions{})
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	found, inspectErr := engine.NetworkInspect(ctx, id, client.NetworkInspectOptions{})
	if inspectErr != nil {
		return errors.Join(err, inspectErr)
	}
	for _, place := range found.Network.Containers {
		off := client.NetworkDisconnectOptions{Container: place.Name, Force: true}
		if _, offErr := engine.NetworkDisconnect(ctx, id, off); offErr != nil {
			err = errors.Join(err, offErr)
		}
	}
	_, again := engine.NetworkRemove(ctx, id, client.NetworkRemoveOptions{})
	if again == nil || errdefs.IsNotFound(again) {
		return nil
	}
	if !errdefs.IsPermissionDenied(again) {
		return errors.Join(err, again)
	}
	return fmt.Errorf("%w; if nobody is on it, the engine's own record is wrong, and starting the engine again mends that", err)
}
