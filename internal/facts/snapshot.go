package facts

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"maps"
	"math"

	"github.com/lockbench/lockbench/lab"
)

// worn is a node below which almost as many nodes have been made as ZooKeeper can count.
const worn = "/worn"

// nearItsEnd is a ZooKeeper server that begins with such a node, since making two thousand million
// would take days.
func nearItsEnd() lab.Topology {
	t := topology("zookeeper")
	start := t.Kind.Program
	t.Kind.Program = func(self lab.Host, all []lab.Host) lab.Program {
		p := start(self, all)
		p.Files = maps.Clone(p.Files)
		p.Files["snapshot.0"] = snapshot(map[string]int32{worn: math.MaxInt32 - 1})
		p.Files["start.sh"] = "mkdir -p {dir}/version-2\ncp {dir}/snapshot.0 {dir}/version-2/\n" + p.Files["start.sh"]
		return p
	}
	return t
}

// snapshot is the data of a ZooKeeper server as its file has them (org.apache.zookeeper.server.persistence
// FileSnap, and DataTree.serialize): a header, no sessions, no lists of rights, the nodes each behind
// its parent, and a checksum. The nodes are those that every server has, and these with the count of
// what was made below them.
func snapshot(counts map[string]int32) string {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			if s, ok := v.(string); ok {
				_ = binary.Write(&b, binary.BigEndian, int32(len(s))) // a buffer takes everything
				b.WriteString(s)
				continue
			}
			_ = binary.Write(&b, binary.BigEndian, v)
		}
	}
	node := func(path string, made int32) {
		const openToAll = int64(-1)
		put(path, "", openToAll)
		put(int64(0), int64(0), int64(0), int64(0)) // czxid, mzxid, ctime, mtime
		put(int32(0), made, int32(0))               // version, cversion, aversion
		put(int64(0), int64(0))                     // ephemeralOwner, pzxid
	}
	const noSessions, noLists = int32(0), int32(0)
	put([]byte("ZKSN"), int32(2), int64(-1), noSessions, noLists)
	for _, path := range []string{"", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"} {
		node(path, 0)
	}
	for path, made := range counts {
		node(path, made)
	}
	put("/") // the end of the nodes
	put(int64(adler32.Checksum(b.Bytes())), "/")
	return b.String()
}
