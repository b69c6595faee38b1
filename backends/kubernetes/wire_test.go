package kubernetes_test

import (
	"fmt"
	"testing"

	"github.com/lockbench/lockbench/backends/kubernetes"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

const all = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

func sends(method, path, body string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: k\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
}

func says(status string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\n{}"
}

// lease is one in JSON.
func lease(holder, acquired, renewed string) string {
	return fmt.Sprintf(`{"kind":"Lease","spec":{"holderIdentity":%q,"leaseDurationSeconds":15,"acquireTime":%q,"renewTime":%q}}`, holder, acquired, renewed)
}

func TestLanguage(t *testing.T) {
	const (
		ok, made, no, gone = "200 OK", "201 Created", "409 Conflict", "404 Not Found"
		first, then        = "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:02.000000Z"
	)
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"made":         {[]turn{asks(sends("GET", all+"/a?timeout=1s", "")), answers(says(gone)), asks(sends("POST", all, lease("me", first, first))), answers(says(made))}, "get =get! acquire =acquire"},
		"taken":        {[]turn{asks(sends("GET", all+"/a", "")), answers(says(ok)), asks(sends("PUT", all+"/a", lease("me", then, then))), answers(says(ok))}, "get =get acquire =acquire"},
		"too late":     {[]turn{asks(sends("PUT", all+"/a", lease("me", then, then))), answers(says(no))}, "acquire =acquire!"},
		"renewed":      {[]turn{asks(sends("PUT", all+"/a", lease("me", first, then))), answers(says(ok))}, "renew =renew"},
		"given back":   {[]turn{asks(sends("PUT", all+"/a", lease("", then, then))), answers(says(ok))}, "release =release"},
		"deleted":      {[]turn{asks(sends("DELETE", all+"/a", "")), answers(says(ok))}, "delete =delete"},
		"another kind": {[]turn{asks(sends("GET", "/api/v1/namespaces/default", "")), answers(says(ok)), asks(sends("GET", all, "")), answers(says(ok))}, ""},
		"no lease":     {[]turn{asks(sends("PUT", all+"/a", "none")), answers(says("400 Bad Request"))}, ""},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, kubernetes.Language, tc.turns, tc.want) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, kubernetes.Language, []string{sends("GET", all+"/a", "") + sends("PUT", all+"/a", lease("me", "1", "1"))},
		[]string{says("200 OK") + says("409 Conflict")})
}
