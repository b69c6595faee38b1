package wire_test

import (
	"testing"

	"github.com/lockbench/lockbench/internal/wire"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
)

var saidToAll, answeredByAll = []string{redisCommand("SUBSCRIBE", "a", "b")},
	[]string{"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"}

func FuzzRedis(f *testing.F) { wiretest.Fuzz(f, wire.Redis, saidToAll, answeredByAll) }
func FuzzOther(f *testing.F) { wiretest.Fuzz(f, wire.Other, saidToAll, answeredByAll) }
