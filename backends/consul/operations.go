package consul

import (
	"context"
	"fmt"
	"net/http"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/internal/english"
	"github.com/lockbench/lockbench/lab"
)

// commands are what people do to its servers.
var commands = map[lab.Operation]lab.Command{
	lab.FailOver: transfer,
	lab.FlushAll: deleteAll,
}

// transfer is `consul operator raft transfer-leader`.
func transfer(ctx context.Context, at lab.Target) (lab.Effect, error) {
	var done struct{ Success bool }
	_, err := ask(ctx, http.MethodPost, at.Endpoint, "/v1/operator/raft/transfer-leader", "", &done)
	if err != nil || !done.Success {
		return lab.Effect{}, err
	}
	return lab.Effect{Count: 1, Told: "handed its lead over"}, nil
}

// deleteAll is `consul kv delete -recurse lockbench`: whoever holds a lock has nothing to say about it.
func deleteAll(ctx context.Context, at lab.Target) (lab.Effect, error) {
	all, _, err := keys(ctx, at.Endpoint)
	if err != nil {
		return lab.Effect{}, err
	}
	_, err = ask(ctx, http.MethodDelete, at.Endpoint, "/v1/kv/"+lb.Prefix+"?recurse", "", nil)
	return lab.Effect{Count: len(all), Told: "forgot " + english.Count(len(all), "key")}, err
}

// end is what an operator does to a session: `curl -X PUT …/v1/session/destroy/ID`, which says yes whether there was one or not.
func end(ctx context.Context, endpoint, session string) (knew bool, err error) {
	var found []struct{ ID string }
	if err := get(ctx, endpoint, "/v1/session/info/"+session+"?consistent", &found); err != nil {
		return false, err
	}
	_, err = ask(ctx, http.MethodPut, endpoint, "/v1/session/destroy/"+session, "", nil)
	return len(found) > 0, err
}

// keys are those of locks, and the index of their last change.
func keys(ctx context.Context, endpoint string) (names []string, index uint64, err error) {
	index, err = ask(ctx, http.MethodGet, endpoint, "/v1/kv/"+lb.Prefix+"?keys&consistent", "", &names)
	if web.Missing(err) {
		err = nil
	}
	return names, index, err
}

func sessions(ctx context.Context, endpoint string) (all []struct{ ID string }, index uint64, err error) {
	index, err = ask(ctx, http.MethodGet, endpoint, "/v1/session/list?consistent", "", &all)
	return all, index, err
}

// keeps counts keys and sessions.
func keeps(ctx context.Context, endpoint string) (lab.Keeps, error) {
	names, _, err := keys(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	all, _, err := sessions(ctx, endpoint)
	return lab.Keeps{"keys": len(names), "sessions": len(all)}, err
}

// counts adds the indexes of the last changes of keys and of sessions: each changes one of them at least.
func counts(endpoint string) (lab.Counting, error) {
	return lab.Counting{Close: func() {}, Ask: func(ctx context.Context) (lab.Count, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, ofKeys, err := keys(ctx, endpoint)
		if err != nil {
			return lab.Count{}, fmt.Errorf("count the changes of keys: %w", err)
		}
		_, ofSessions, err := sessions(ctx, endpoint)
		if err != nil {
			return lab.Count{}, fmt.Errorf("count the changes of sessions: %w", err)
		}
		return lab.Count{Changes: ofKeys + ofSessions}, nil
	}}, nil
}
