package consul

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/lockbench/lockbench/backends/internal/web"
)

// patience is for how long a server may be silent that is asked about itself.
const patience = 500 * time.Millisecond

// get asks for something, and reads the answer.
func get(ctx context.Context, endpoint, what string, into any) error {
	_, err := ask(ctx, http.MethodGet, endpoint, what, "", into)
	return err
}

// ask sends one request on a connection of its own. It returns the index of what it was asked for, which is that of the last
// change there, and reads the answer; nil for nobody who wants it.
func ask(ctx context.Context, method, endpoint, what, body string, into any) (index uint64, err error) {
	head, text, err := web.Ask(ctx, web.Once, method, "http://"+endpoint+what, body)
	index, _ = strconv.ParseUint(head.Get("X-Consul-Index"), 10, 64) // 0 where there is none
	if err != nil || into == nil {
		return index, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return index, fmt.Errorf("%s: %w", what, err)
	}
	return index, nil
}
