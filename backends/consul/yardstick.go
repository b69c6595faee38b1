package consul

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/lockbench/lockbench/lab"
)

// Yardstick is the question who leads; a key that is written and deleted.
func Yardstick(_ context.Context, endpoint string) (*lab.Yardstick, error) {
	const patient = 5 * time.Second
	way := &http.Transport{MaxConnsPerHost: 1}
	client := http.Client{Transport: way, Timeout: patient}
	send := func(ctx context.Context, method, what string) error {
		req, err := http.NewRequestWithContext(ctx, method, "http://"+endpoint+what, strings.NewReader("1"))
		if err != nil {
			return err
		}
		answer, err := client.Do(req)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s %s: %s, %q", method, what, answer.Status, text)
		}
		return err
	}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error { return send(ctx, http.MethodGet, "/v1/status/leader") },
		Writes: func(ctx context.Context) error {
			err := send(ctx, http.MethodPut, "/v1/kv/"+lab.YardKey)
			if err == nil {
				err = send(ctx, http.MethodDelete, "/v1/kv/"+lab.YardKey)
			}
			return err
		},
		Close: way.CloseIdleConnections,
	}, nil
}
