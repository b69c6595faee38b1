package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// StatusError is an answer by which a server says that it has not done what was asked.
type StatusError struct {
	Code int
	Said string
}

func (e StatusError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Said) }

// Missing reports whether the error is that there is nothing of that name.
func Missing(err error) bool {
	var e StatusError
	return errors.As(err, &e) && e.Code == http.StatusNotFound
}

// Ask sends one request, and returns the head and the body of its answer. A body that is sent is JSON.
func Ask(ctx context.Context, client *http.Client, method, url, body string) (head http.Header, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	answer, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", req.URL.RequestURI(), err)
	}
	if answer.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %w", req.URL.RequestURI(), StatusError{answer.StatusCode, strings.TrimSpace(string(text))})
	}
	return answer.Header, text, err
}

// Once is for requests with a connection each: it may be another server at an address when it is asked again.
var Once = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
