// Package zookeeper is ZooKeeper as a backend: its servers, and what they can be asked, and how lockbench is let in by
// those that somebody else runs. Its locks are in impls/zk.
package zookeeper

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lockbench/lockbench/lab"
)

// Topologies are those of ZooKeeper.
func Topologies() []lab.Topology {
	return []lab.Topology{
		{Name: "zookeeper", Doc: "one ZooKeeper server", Kind: member, Servers: 1, Ensembles: &lab.Ensembles{Title: "ZooKeeper", Algorithm: "zk-sequential"}},
		{Name: "zookeeper-3", Doc: "a ZooKeeper ensemble of three", Kind: member, Servers: 3},
		{Name: "zookeeper-5", Doc: "a ZooKeeper ensemble of five", Kind: member, Servers: 5},
	}
}

// member is the kind of its servers.
var member = lab.Kind{
	Name: "zookeeper", Image: "zookeeper=zookeeper:3.9", Software: software, Version: serverVersion, Speaks: Language, Guest: Guest(), Yardstick: Yardstick,
	Needs: []string{"java", script}, Install: "apt-get install zookeeper default-jre-headless",
	Program: program, Durable: durable, Grows: true, Quorum: true,
	Leads: leads, End: end, Clock: clock, Counts: counts, Keeps: keeps,
}

// software takes options as lines of its file, and a class path, such as "lib/*", for the binary.
var software = lab.Software{Name: "zookeeper", Runs: "java",
	Option: func(p lab.Program, name, value string) lab.Program {
		files := map[string]string{}
		for file, text := range p.Files {
			files[file] = text
		}
		files["zoo.cfg"] += name + "=" + value + "\n"
		p.Files = files
		return p
	},
	Binary: func(p lab.Program, path string) lab.Program {
		p.Env = append(slices.Clip(p.Env), "LOCKBENCH_ZOOKEEPER="+path)
		return p
	},
	Asks: func(path string) []string {
		return append([]string{"env", "LOCKBENCH_ZOOKEEPER=" + path}, serverVersion.Command...)
	}}

// kept are the lines of the four-letter word mntr that count. Versions before 3.6 do not
// count sessions.
var kept = map[string]string{"nodes": "zk_znode_count", "watches": "zk_watch_count", "sessions": "zk_global_sessions"}

// keeps counts nodes, watches and sessions.
func keeps(ctx context.Context, endpoint string) (lab.Keeps, error) {
	answer, err := say(ctx, endpoint, "mntr")
	if err != nil {
		return nil, err
	}
	k := lab.Keeps{}
	for what, line := range kept {
		if n, err := numberAfter(answer, line, 10); err == nil {
			k[what] = int(n)
		}
	}
	return k, nil
}

// counts is the number of the last transaction. A watch, which a read leaves, hears of transactions
// alone; a request that is refused is one.
func counts(endpoint string) (lab.Counting, error) {
	return lab.Counting{Close: func() {}, Ask: func(ctx context.Context) (lab.Count, error) {
		answer, err := ask(ctx, endpoint)
		if err != nil {
			return lab.Count{}, err
		}
		n, err := numberAfter(answer, "Zxid: 0x", 16)
		return lab.Count{Changes: n, Whole: true}, err
	}}, nil
}

// numberAfter is the number that follows a line's head.
func numberAfter(text []byte, head string, base int) (uint64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if digits, ok := strings.CutPrefix(lines.Text(), head); ok {
			return strconv.ParseUint(strings.TrimSpace(digits), base, 64)
		}
	}
	return 0, fmt.Errorf("no %q in %q", head, text)
}
