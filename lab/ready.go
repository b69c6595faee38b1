package lab

import (
	"context"
	"net"
)

// Listening is ready when something accepts connections at the endpoint.
func Listening(ctx context.Context, endpoint string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return err
	}
	return c.Close()
}
