package kubernetes

import (
	"context"
	"net/http"
	"time"

	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/lab"
)

// Yardstick is the question for the version, which kube-apiserver answers by itself; a Lease that is made and deleted.
func Yardstick(_ context.Context, endpoint string) (*lab.Yardstick, error) {
	way := &http.Transport{MaxConnsPerHost: 1}
	client := &http.Client{Transport: way, Timeout: 5 * time.Second}
	send := func(ctx context.Context, method, what, body string) error {
		_, _, err := web.Ask(ctx, client, method, "http://"+endpoint+what, body)
		return err
	}
	return &lab.Yardstick{
		Floor: func(ctx context.Context) error { return send(ctx, http.MethodGet, "/version", "") },
		Writes: func(ctx context.Context) error {
			err := send(ctx, http.MethodPost, leasesPath, `{"metadata":{"name":"`+lab.YardKey+`"}}`)
			if err == nil {
				err = send(ctx, http.MethodDelete, leasesPath+"/"+lab.YardKey, "")
			}
			return err
		},
		Close: way.CloseIdleConnections,
	}, nil
}
