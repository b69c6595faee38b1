package consul

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// patience is for how long a server may be silent that is asked about itself.
const patience = 500 * time.Millisecond

// get asks for something, and reads the answer.
func get(ctx context.Context, endpoint, what string, into any) error {
	_, err := ask(ctx, http.MethodGet, endpoint, what, "", into)
	return err
}

// statusError is an answer by which a server says that it has not done what was asked.
type statusError struct {
	code int
	said string
}

func (e statusError) Error() string { return fmt.Sprintf("%d: %s", e.code, e.said) }

// missing reports whether the error is that there is nothing of that name.
func missing(err error) bool {
	var e statusError
	return errors.As(err, &e) && e.code == http.StatusNotFound
}

// ask sends one request on a connection of its own: it may be another server at this address when it is asked again.
// It returns the index of what it was asked for, which is that of the last change there, and reads the answer; nil for
// nobody who wants it.
func ask(ctx context.Context, method, endpoint, what, body string, into any) (index uint64, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+endpoint+what, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Close = true
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	index, _ = strconv.ParseUint(answer.Header.Get("X-Consul-Index"), 10, 64) // 0 where there is none
	if answer.StatusCode != http.StatusOK {
		return index, fmt.Errorf("%s: %w", what, statusError{answer.StatusCode, strings.TrimSpace(string(text))})
	}
	if into == nil {
		return index, nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return index, fmt.Errorf("%s: %w", what, err)
	}
	return index, nil
}
