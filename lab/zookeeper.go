package lab

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
)

// zookeeperScript is what a ZooKeeper cannot start without beside a JVM; the
// distribution's package of it brings the jars that the class path names.
const zookeeperScript = "/usr/share/zookeeper/bin/zkServer.sh"

// zookeeperVersion asks a class that needs none of the others.
var zookeeperVersion = Version{"zookeeper", []string{"sh", "-c", zookeeperStart, "sh", "org.apache.zookeeper.version.VersionInfoMain"}}

//go:embed zookeeper.sh
var zookeeperStart string

const zookeeperLogs = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>[%thread] %level %logger - %msg%n</pattern></encoder></appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
`

// zookeeperProgram starts the JVM itself, not the distribution's script around it.
func zookeeperProgram(self Host, all []Host) Program {
	return Program{
		Argv: []string{"sh", "{dir}/start.sh",
			// The lab's disk is memory, and a lab's power never fails.
			zookeeperHasty, "-Dzookeeper.preAllocSize=4096",
			// A server that looks for a leader waits so long, in ms, for each peer that it
			// can't reach, before it asks the next; 5 s by default.
			"-Dzookeeper.cnxTimeout=500",
			// Containers that are empty, and TTL nodes that are due, go after a second.
			"-Dzookeeper.extendedTypesEnabled=true", "-Dznode.container.checkIntervalMs=1000",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
			"org.apache.zookeeper.server.quorum.QuorumPeerMain", "{dir}/zoo.cfg"},
		Env: []string{"LOCKBENCH_CLASSES={dir}"},
		Files: map[string]string{
			"start.sh": zookeeperStart,
			// Newer versions say everything where nobody says how much.
			"logback.xml": zookeeperLogs,
			"zoo.cfg":     zookeeperConfig(all),
			"myid":        fmt.Sprintln(1 + slices.IndexFunc(all, func(h Host) bool { return h.Name() == self.Name() })),
		},
		Port:  2181,
		Ready: zookeeperReady,
	}
}

// zookeeperHasty confirms what is not on the disk yet.
const zookeeperHasty = "-Dzookeeper.forceSync=no"

// zookeeperDurable waits for the disk, as ZooKeeper does by default.
func zookeeperDurable(p Program) Program {
	p.Argv = slices.DeleteFunc(slices.Clone(p.Argv), func(a string) bool { return a == zookeeperHasty })
	return p
}

// zookeeperConfig has short ticks: a session can't be shorter than two of them,
// and a follower may be out of reach for five before it is given up.
func zookeeperConfig(all []Host) string {
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

// zookeeperReady wants a server that serves. One outside of a quorum answers, too,
// but names no mode.
func zookeeperReady(ctx context.Context, endpoint string) error {
	_, err := ZooKeeperMode(ctx, endpoint)
	return err
}

// ZooKeeperMode is the role that the server says it has: leader, follower, observer or standalone.
func ZooKeeperMode(ctx context.Context, endpoint string) (string, error) {
	answer, err := zookeeperAsk(ctx, endpoint)
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

// zookeeperLeads reports whether the server is the leader; one outside of a quorum answers, and is none.
func zookeeperLeads(ctx context.Context, endpoint string) (bool, error) {
	answer, err := zookeeperAsk(ctx, endpoint)
	return bytes.Contains(answer, []byte("\nMode: leader")), err
}

// zookeeperAsk sends the four-letter word srvr.
func zookeeperAsk(ctx context.Context, endpoint string) ([]byte, error) {
	return zookeeperSay(ctx, endpoint, "srvr")
}

// zookeeperSay sends a four-letter word.
func zookeeperSay(ctx context.Context, endpoint, word string) ([]byte, error) {
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

// zookeeperClock reads the clock of whoever leads: by the time stamp that it gives
// to a new node.
func zookeeperClock(ctx context.Context, endpoint string) (time.Time, error) {
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

// quiet keeps the client from logging to standard error.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
