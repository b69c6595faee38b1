package wire_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

var saidToAll, answeredByAll = []string{redisCommand("SUBSCRIBE", "a", "b"), preface + callOf(1, "Put") + frameOf(0, 0, 1, "\x00\x00\x00\x00\x00")},
	[]string{"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n", accepted(1) + done(1, "0")}

func FuzzRedis(f *testing.F) { wiretest.Fuzz(f, wire.Redis, saidToAll, answeredByAll) }
func FuzzEtcd(f *testing.F)  { wiretest.Fuzz(f, wire.Etcd, saidToAll, answeredByAll) }
func FuzzOther(f *testing.F) { wiretest.Fuzz(f, wire.Other, saidToAll, answeredByAll) }
