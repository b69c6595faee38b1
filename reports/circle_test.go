package reports

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/lockbench/lockbench/checker"
)

// TestCircle draws each client and lock once, in well-formed XML, whatever their names.
func TestCircle(t *testing.T) {
	for n := range maxCircle + 2 {
		var ring []checker.Wait
		for i := range n {
			ring = append(ring, checker.Wait{Client: fmt.Sprintf("w%d.<c>", i), Lock: fmt.Sprintf("account&%d", i), Holder: fmt.Sprintf("w%d.<c>", (i+1)%n)})
		}
		svg := circle("lock under fault", ring)
		if n == 0 || n > maxCircle {
			if svg != "" {
				t.Errorf("%d clients are drawn", n)
			}
			continue
		}
		if boxes, arrows := strings.Count(svg, `class="client"`), strings.Count(svg, `class="waits"`); boxes != n || arrows != n {
			t.Errorf("%d clients: %d boxes and %d arrows", n, boxes, arrows)
		}
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%d clients: %v\n%s", n, err, svg)
			}
		}
		if strings.Contains(svg, "NaN") {
			t.Error(svg)
		}
	}
}
