package redis

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

func program(lab.Host, []lab.Host) lab.Program {
	return lab.Program{
		Argv: []string{"redis-server", "--bind", "{addr}", "--port", "{port}", "--save", "", "--appendonly", "no",
			"--protected-mode", "no", "--dir", "{dir}"},
		Port:  6379,
		Ready: ready,
	}
}

// durable logs every write to the disk before it is confirmed. It is not how Redis
// comes: by default it may forget what it has confirmed.
func durable(p lab.Program) lab.Program {
	p.Argv = append(p.Argv[:len(p.Argv):len(p.Argv)], "--appendonly", "yes", "--appendfsync", "always")
	return p
}

// ready sends PING and wants PONG. An open port is not enough: a Redis that
// is loading its data has one.
func ready(ctx context.Context, endpoint string) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return err
	}
	defer c.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(end)
	}
	if _, err := c.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && !strings.HasPrefix(answer, "+PONG") {
		err = fmt.Errorf("redis answered %q to PING", answer)
	}
	return err
}
