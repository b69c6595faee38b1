package memcached

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// TestItemsCutShort: a listing that ends in the middle is none.
func TestItemsCutShort(t *testing.T) {
	const whole = "key=a%20b exp=1 la=1 cas=1 fetch=no cls=1 size=70\r\nkey=c exp=1 la=1 cas=2 fetch=no cls=1 size=71\r\nEND\r\n"
	for n := range len(whole) + 1 {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Read(make([]byte, 100))
			_, _ = theirs.Write([]byte(whole[:n]))
			_ = theirs.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		all, err := items(ctx, newConn(ours))
		cancel()
		if ended := strings.HasSuffix(whole[:n], "END\r\n"); ended != (err == nil) || ended && (len(all) != 2 || all[0] != item{"a b", 70}) {
			t.Errorf("of %q: %v, %v", whole[:n], all, err)
		}
		_ = ours.Close()
	}
}
