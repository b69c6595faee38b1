package wire_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

var saidToAll, answeredByAll = []string{redisCommand("SUBSCRIBE", "a", "b"), zooRequest(0, 1) + zooRequest(1, 1), preface + callOf(1, "Put") + frameOf(0, 0, 1, "\x00\x00\x00\x00\x00"), packet(1, "login") + packet(0, "\x03/*a*/SELECT")},
	[]string{"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", zooReply(1, 0), accepted(1) + done(1, "0"), greetingOf + packet(1, "\xff")}

func FuzzRedis(f *testing.F)     { wiretest.Fuzz(f, wire.Redis, saidToAll, answeredByAll) }
func FuzzZooKeeper(f *testing.F) { wiretest.Fuzz(f, wire.ZooKeeper, saidToAll, answeredByAll) }
func FuzzEtcd(f *testing.F)      { wiretest.Fuzz(f, wire.Etcd, saidToAll, answeredByAll) }
func FuzzMySQL(f *testing.F)     { wiretest.Fuzz(f, wire.MySQL, saidToAll, answeredByAll) }
func FuzzOther(f *testing.F)     { wiretest.Fuzz(f, wire.Other, saidToAll, answeredByAll) }
