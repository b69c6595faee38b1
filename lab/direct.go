package lab

import "os"

// Direct takes out of this process's environment, and of that of all whom it starts, what names
// a proxy. The servers of a lab are spoken to directly: a proxy knows no way to them, and what
// goes through one can't be cut. etcd's clients, of Go and of Python, and its servers among each
// other would take the one that a company's machine names.
func Direct() {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "GRPC_PROXY", "http_proxy", "https_proxy", "all_proxy", "grpc_proxy"} {
		_ = os.Unsetenv(name)
	}
}
