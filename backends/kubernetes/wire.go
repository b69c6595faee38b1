package kubernetes

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/lockbench/lockbench/backends/internal/web"
	"github.com/lockbench/lockbench/internal/wire"
)

// Language is the API of Kubernetes over HTTP/1.1, in JSON: of the requests those about one Lease have a name.
var Language = wire.Language{
	Name: "kubernetes", Reads: []string{get},
	Begin: web.Dialect{Name: RequestOf, Answer: func(_ string, status int, _ []byte) wire.Message {
		return wire.Message{Failed: status >= 400}
	}}.Begin,
}

const get = "get"

// RequestOf names what is asked for. A Lease is written to take the lock, to renew it or to give it back, by what it shall be
// then: it was acquired when it was last renewed, or before that, or it has no holder. What can't be read has no name.
func RequestOf(method string, at *url.URL, body []byte) string {
	name, one := strings.CutPrefix(at.Path, leasesPath+"/")
	switch {
	case one && method == "GET" && name != "":
		return get
	case one && method == "DELETE":
		return "delete"
	case one && method == "PUT", at.Path == leasesPath && method == "POST":
		return writeOf(body)
	}
	return ""
}

func writeOf(body []byte) string {
	var lease struct {
		Spec struct{ HolderIdentity, AcquireTime, RenewTime string }
	}
	if json.Unmarshal(body, &lease) != nil {
		return ""
	}
	switch spec := lease.Spec; {
	case spec.HolderIdentity == "":
		return "release"
	case spec.AcquireTime == spec.RenewTime:
		return "acquire"
	}
	return "renew"
}
