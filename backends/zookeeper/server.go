package zookeeper

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/lockbench/lockbench/lab"
)

// script is what a ZooKeeper cannot start without beside a JVM; the
// distribution's package of it brings the jars that the class path names.
const script = "/usr/share/zookeeper/bin/zkServer.sh"

// serverVersion asks a class that needs none of the others.
var serverVersion = lab.Version{Of: "zookeeper", Command: []string{"sh", "-c", start, "sh", "org.apache.zookeeper.version.VersionInfoMain"}}

//go:embed start.sh
var start string

const logs = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>[%thread] %level %logger - %msg%n</pattern></encoder></appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`

// program starts the JVM itself, not the distribution's script around it.
func program(self lab.Host, all []lab.Host) lab.Program {
	return lab.Program{
		Argv: []string{"sh", "{dir}/start.sh",
			// The lab's disk is memory, and a lab's power never fails.
			hasty, "-Dzookeeper.preAllocSize=4096",
			// A server that looks for a leader waits so long, in ms, for each peer that it
			// can't reach, before it asks the next; 5 s by default.
			"-Dzookeeper.cnxTimeout=500",
			// Containers that are empty, and TTL nodes that are due, go after a second.
			"-Dzookeeper.extendedTypesEnabled=true", "-Dznode.container.checkIntervalMs=1000",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
			"org.apache.zookeeper.server.quorum.QuorumPeerMain", "{dir}/zoo.cfg"},
		Env: []string{"LOCKBENCH_CLASSES={dir}"},
		Files: map[string]string{
			"start.sh": start,
			// Newer versions say everything where nobody says how much.
			"logback.xml": logs,
			"zoo.cfg":     config(all),
			"myid":        fmt.Sprintln(1 + slices.IndexFunc(all, func(h lab.Host) bool { return h.Name() == self.Name() })),
		},
		Port:  2181,
		Ready: ready,
	}
}

// hasty confirms what is not on the disk yet.
const hasty = "-Dzookeeper.forceSync=no"

// durable waits for the disk, as ZooKeeper does by default.
func durable(p lab.Program) lab.Program {
	p.Argv = slices.DeleteFunc(slices.Clone(p.Argv), func(a string) bool { return a == hasty })
	return p
}

// config has short ticks: a session can't be shorter than two of them,
// and a follower may be out of reach for five before it is given up.
func config(all []lab.Host) string {
	cfg := []string{
		"tickTime=200", "initLimit=25", "syncLimit=5",
		"minSessionTimeout=400", "maxSessionTimeout=3600000",
		"dataDir={dir}", "clientPort={port}", "clientPortAddress={addr}", "maxClientCnxns=0",
		"admin.enableServer=false", "4lw.commands.whitelist=*",
	}
	if len(all) > 1 {
		for i, h := range all {
			cfg = append(cfg, fmt.Sprintf("server.%d=%s:2888:3888", i+1, h.Addr()))
		}
	}
	return strings.Join(cfg, "\n") + "\n"
}

// ready wants a server that serves. One outside of a quorum answers, too,
// but names no mode.
func ready(ctx context.Context, endpoint string) error {
	_, err := Mode(ctx, endpoint)
	return err
}

// Mode is the role that the server says it has: leader, follower, observer or standalone.
func Mode(ctx context.Context, endpoint string) (string, error) {
	answer, err := ask(ctx, endpoint)
	if err != nil {
		return "", err
	}
	_, mode, ok := bytes.Cut(answer, []byte("\nMode: "))
	if !ok {
		return "", fmt.Errorf("zookeeper answered %q to srvr", bytes.TrimSpace(answer))
	}
	mode, _, _ = bytes.Cut(mode, []byte("\n"))
	return string(mode), nil
}

// leads reports whether the server is the leader; one outside of a quorum answers, and is none.
func leads(ctx context.Context, endpoint string) (bool, error) {
	answer, err := ask(ctx, endpoint)
	return bytes.Contains(answer, []byte("\nMode: leader")), err
}

// ask sends the four-letter word srvr.
func ask(ctx context.Context, endpoint string) ([]byte, error) {
	return say(ctx, endpoint, "srvr")
}

// say sends a four-letter word.
func say(ctx context.Context, endpoint, word string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = c.SetDeadline(end)
	}
	if _, err := io.WriteString(c, word); err != nil {
		return nil, err
	}
	return io.ReadAll(c)
}

// clock reads the clock of whoever leads: by the time stamp that it gives
// to a new node.
func clock(ctx context.Context, endpoint string) (time.Time, error) {
	c, events, err := zk.Connect([]string{endpoint}, time.Second, zk.WithLogInfo(false), zk.WithLogger(quiet{}))
	if err != nil {
		return time.Time{}, err
	}
	defer c.Close()
	for state := zk.StateUnknown; state != zk.StateHasSession; {
		select {
		case e := <-events:
			state = e.State
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
	path, err := c.Create("/clock-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return time.Time{}, err
	}
	_, stat, err := c.Get(path)
	if err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(stat.Ctime), nil
}
