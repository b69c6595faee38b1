package redis

import (
	"bufio"
	"fmt"
	"net"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// login sends AUTH. A Sentinel may have no password where its servers have one.
func login(r lab.Relay, _, server net.Conn) (net.Conn, error) {
	as := r.Account()
	if as.Password == "" {
		return server, nil
	}
	words := []string{"AUTH", as.Password}
	if as.User != "" {
		words = []string{"AUTH", as.User, as.Password}
	}
	var command strings.Builder
	fmt.Fprintf(&command, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&command, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := server.Write([]byte(command.String())); err != nil {
		return nil, err
	}
	answer, err := bufio.NewReader(server).ReadString('\n') // one line; nothing else was asked
	switch {
	case err != nil:
		return nil, err
	case answer[0] == '+' || r.Sentinel() && strings.Contains(answer, "without any password configured"):
		return server, nil
	}
	return nil, fmt.Errorf("%w: %s", lab.ErrNotLetIn, strings.TrimSpace(answer[1:]))
}
