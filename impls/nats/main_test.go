package nats

import (
	"testing"

	"github.com/lockbench/lockbench/internal/testkit/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
