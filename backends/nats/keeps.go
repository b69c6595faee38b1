package nats

import (
	"context"

	"github.com/lockbench/lockbench/lab"
)

// keeps counts keys, the markers of those that are gone with them, and who watches them.
func keeps(ctx context.Context, endpoint string) (lab.Keeps, error) {
	var js struct{ Messages, Consumers int }
	if err := tell(ctx, endpoint, "/jsz", &js); err != nil {
		return nil, err
	}
	return lab.Keeps{"keys": js.Messages, "watches": js.Consumers}, nil
}

// counts is how many messages the buckets have ever had: a key that ends by its time is none of them, unless its bucket
// has a marker written then.
func counts(endpoint string) (lab.Counting, error) {
	return lab.Counting{Close: func() {}, Ask: func(ctx context.Context) (lab.Count, error) {
		var js struct {
			Accounts []struct {
				Streams []struct {
					State struct {
						Last uint64 `json:"last_seq"`
					}
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		if err := tell(ctx, endpoint, "/jsz?streams=1", &js); err != nil {
			return lab.Count{}, err
		}
		var n uint64
		for _, a := range js.Accounts {
			for _, s := range a.Streams {
				n += s.State.Last
			}
		}
		return lab.Count{Changes: n}, nil
	}}, nil
}
