package reports

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/lockbench/lockbench/checker"
)

// The geometry of a deadlock's picture, in pixels of its viewBox.
const (
	circleRadius = 96
	circleWide   = 1.9 // times as wide as it is high, for the names of locks
	circleNode   = 15  // half the height of a client's box
	circleMargin = 30
	circleAir    = 4 // between a box and an arrow
	maxCircle    = 8
)

// circle draws who waits for whom in a deadlock of a run, as an SVG for the page that [HTML]
// writes: the clients in a ring, and from each an arrow to the next, with the lock that
// it waits for and the next one holds. It returns "" for no deadlock, and for one that is
// too large to be seen; the sentence tells that.
func circle(of string, ring []checker.Wait) string {
	n := len(ring)
	if n == 0 || n > maxCircle {
		return ""
	}
	widest := 0.0
	for _, w := range ring {
		widest = max(widest, textWidth(w.Client), textWidth(w.Lock))
	}
	half := widest/2 + 12
	cx, cy := circleRadius*circleWide+half+circleMargin, float64(circleRadius+circleNode+circleMargin)
	at := func(i float64) (x, y float64) {
		angle := 2*math.Pi*i/float64(n) - math.Pi
		return cx + circleRadius*circleWide*math.Cos(angle), cy + circleRadius*math.Sin(angle)
	}
	leave := func(i, way float64) (x, y float64) { // the box of client i, along the ring
		cx, cy := at(i)
		for step := .02; ; step += .01 {
			x, y = at(i + way*step)
			if math.Abs(x-cx) > half+circleAir || math.Abs(y-cy) > circleNode+circleAir || step > .4 {
				return x, y
			}
		}
	}
	var b strings.Builder
	var told []string
	for _, w := range ring {
		told = append(told, fmt.Sprintf("%s waits for %s, held by %s", w.Client, w.Lock, w.Holder))
	}
	fmt.Fprintf(&b, `<svg class="tl ring" viewBox="0 0 %s %s" role="img" aria-label="Who waits for whom in %s"><desc>%s</desc>`+"\n",
		num(2*cx), num(2*cy), html.EscapeString(of), html.EscapeString(strings.Join(told, "; ")))
	for i, w := range ring {
		// The arrow runs along the ring, from just outside the one box to the other.
		x0, y0 := leave(float64(i), 1)
		x1, y1 := leave(float64(i)+1, -1)
		mx, my := at(float64(i) + .5)
		fmt.Fprintf(&b, `<path class="waits" d="M%s %sQ%s %s %s %s"/>`+"\n", num(x0), num(y0), num(2*mx-(x0+x1)/2), num(2*my-(y0+y1)/2), num(x1), num(y1))
		fmt.Fprintf(&b, `<use class="tip" href="#tip" transform="translate(%s %s) rotate(%s)"/>`+"\n", num(x1), num(y1),
			num(180/math.Pi*math.Atan2(y1-(2*my-(y0+y1)/2), x1-(2*mx-(x0+x1)/2))))
		fmt.Fprintf(&b, `<text class="lock" x="%s" y="%s">%s</text>`+"\n", num(mx), num(my+4), html.EscapeString(w.Lock))
	}
	for i, w := range ring {
		x, y := at(float64(i))
		fmt.Fprintf(&b, `<rect class="client" x="%s" y="%s" width="%s" height="%d" rx="5"/>`+"\n", num(x-half), num(y-circleNode), num(2*half), 2*circleNode)
		fmt.Fprintf(&b, `<text x="%s" y="%s">%s</text>`+"\n", num(x), num(y+4), html.EscapeString(w.Client))
	}
	b.WriteString("</svg>")
	return b.String()
}
