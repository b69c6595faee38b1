// Does Consul keep a session that is renewed in time, if a leader stood still and leads again? It starts the given consul.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

func ask(method, what, body string) string { // the second server
	req, _ := http.NewRequest(method, "http://127.9.0.2:8500/v1"+what, strings.NewReader(body))
	if answer, err := (&http.Client{Timeout: time.Second}).Do(req); err == nil {
		text, _ := io.ReadAll(answer.Body)
		return string(text)
	}
	return ""
}

func lead() { // has the first server lead
	for ; !strings.Contains(ask("GET", "/status/leader", ""), "127.9.0.1:"); time.Sleep(time.Second) {
		ask("POST", "/operator/raft/transfer-leader?id=11111111-1111-1111-1111-111111111111", "")
	}
	fmt.Println("the first server leads")
}

func main() {
	var first *os.Process
	dir, _ := os.MkdirTemp("", "consul-")
	defer os.RemoveAll(dir)
	for n := 3; n >= 1; n-- {
		at, digit := fmt.Sprintf("127.9.0.%d", n), fmt.Sprint(n)
		options := "agent -server -bootstrap-expect=3 -retry-join=127.9.0.1 -retry-join=127.9.0.2 -retry-interval=1s -serf-wan-port=-1 -dns-port=-1 -grpc-tls-port=-1"
		server := exec.Command(append(os.Args, "consul")[1], append(strings.Fields(options), "-node=c"+digit, "-bind="+at, "-client="+at, "-data-dir="+dir+"/"+digit,
			"-node-id="+strings.ReplaceAll("nnnnnnnn-nnnn-nnnn-nnnn-nnnnnnnnnnnn", "n", digit), `-hcl=session_ttl_min = "1s"`, "-hcl=performance { raft_multiplier = 1 }")...)
		_ = server.Start()
		first = server.Process
		defer first.Kill()
	}
	lead()
	id := strings.Split(ask("PUT", "/session/create", `{"TTL": "1s", "NodeChecks": []}`)+`""""`, `"`)[3]
	time.AfterFunc(3*time.Second, func() { _ = first.Signal(syscall.SIGCONT) })
	_ = first.Signal(syscall.SIGSTOP)
	time.AfterFunc(5*time.Second, lead)
	for begun, renewed := time.Now(), time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(200 * time.Millisecond) {
		switch said := ask("PUT", "/session/renew/"+id, ""); {
		case strings.Contains(said, "TTL"):
			renewed = time.Now()
		case strings.Contains(said, "not found"):
			fmt.Printf("after %.0f s the session of 1 s is gone; it was renewed %.1f s before\n", time.Since(begun).Seconds(), time.Since(renewed).Seconds())
			return
		}
	}
	panic("not shown")
}
