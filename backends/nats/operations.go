package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/lab"
	"github.com/nats-io/nats.go"
)

// commands are what people do to buckets with the tool nats, which are streams there.
var commands = map[lab.Operation]lab.Command{
	lab.FailOver: stepDown,
	lab.FlushAll: purge,
}

// stepDown is `nats stream cluster step-down`.
func stepDown(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = eachBucket(ctx, at, func(ask func(what string, into any) error, stream string) error {
		var done struct{ Success bool }
		err := ask("$JS.API.STREAM.LEADER.STEPDOWN."+stream, &done)
		if err == nil && done.Success {
			e.Count++
		}
		return err
	})
	e.Told = fmt.Sprintf("gave up the lead of %d bucket(s)", e.Count)
	return e, err
}

// purge is `nats stream purge`: the messages are gone, and the number of the last is not.
func purge(ctx context.Context, at lab.Target) (e lab.Effect, err error) {
	err = eachBucket(ctx, at, func(ask func(what string, into any) error, stream string) error {
		var done struct{ Purged int }
		err := ask("$JS.API.STREAM.PURGE."+stream, &done)
		e.Count += done.Purged
		return err
	})
	e.Told = fmt.Sprintf("forgot %d messages", e.Count)
	return e, err
}

// eachBucket does something to each of the buckets that are ours.
func eachBucket(ctx context.Context, at lab.Target, do func(ask func(what string, into any) error, stream string) error) error {
	c, err := Dial([]string{at.Endpoint}, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	ask := func(what, body string, into any) error {
		answer, err := c.RequestMsgWithContext(ctx, &nats.Msg{Subject: what, Data: []byte(body)})
		if err != nil {
			return err
		}
		var said struct{ Error *Refusal }
		if err := errors.Join(json.Unmarshal(answer.Data, &said), json.Unmarshal(answer.Data, into)); err != nil {
			return err
		}
		if said.Error != nil {
			return said.Error
		}
		return nil
	}
	var names struct{ Streams []string }
	if err := ask("$JS.API.STREAM.NAMES", "", &names); err != nil {
		return err
	}
	for _, stream := range names.Streams {
		if !strings.HasPrefix(stream, "KV_"+lb.Prefix) {
			continue
		}
		if err := do(func(what string, into any) error { return ask(what, "", into) }, stream); err != nil {
			return err
		}
	}
	return nil
}
