/* What a program means by its moved clocks, in the machine's time: a wait is handed to
 * somebody who knows only that. Rounded up, so that when it is over it is over by the
 * moved clock, too. A rate that changes meanwhile is not noticed. */
#include "clock.h"

static const int64_t far = 4000000000000000000; /* some 120 years: who waits for that means forever */

/* plausible times are translated; the others are for whoever refuses them, or for never. */
static int plausible(const struct timespec *d) {
	return d && d->sec >= 0 && d->sec < far / BILLION && d->nsec >= 0 && d->nsec < BILLION;
}

static int64_t ns(const struct timespec *t) { return t->sec * BILLION + t->nsec; }

static void put(int64_t ns, struct timespec *t) {
	if (ns < 0)
		ns = 0; /* long ago is as good as the beginning, and the kernel takes nothing before that */
	t->sec = ns / BILLION;
	t->nsec = ns % BILLION;
}

/* slowly is a time by a clock of that drift in the machine's. A clock that stands still, or
 * runs back, would never get there; here it creeps. */
static int64_t slowly(int64_t ns, int64_t ppb) {
	double rate = 1 + (double)ppb / 1e9;
	double r = (double)ns / (rate < 1e-3 ? 1e-3 : rate);
	if (r > (double)far)
		return far;
	if (r < (double)-far)
		return -far;
	return (int64_t)r + 2;
}

INSIDE const struct timespec *deadline(int id, const struct timespec *d, struct timespec *own) {
	struct look l;
	if (!plausible(d) || still() || look(id, &l) != 0 || (l.moved == l.machine && l.ppb == 0))
		return d;
	int64_t left = ns(d) - l.moved;
	put(l.machine + (l.ppb == 0 ? left : slowly(left, l.ppb)), own);
	return own;
}

INSIDE const struct timespec *guessed(const struct timespec *d, struct timespec *own) {
	struct look wall, mono;
	if (!plausible(d) || still() || look(REALTIME, &wall) != 0 || look(MONOTONIC, &mono) != 0)
		return d;
	int64_t w = ns(d) - wall.moved, m = ns(d) - mono.moved;
	return deadline((w < 0 ? -w : w) < (m < 0 ? -m : m) ? REALTIME : MONOTONIC, d, own);
}

/* Relative times are those of the monotonic clock, whatever clock they are asked of: no
 * jump of the wall clock makes them shorter. */
INSIDE const struct timespec *span(const struct timespec *d, struct timespec *own) {
	struct look l;
	if (!plausible(d) || !spans() || look(MONOTONIC, &l) != 0 || l.ppb == 0 || ns(d) == 0)
		return d;
	put(slowly(ns(d), l.ppb), own);
	return own;
}

INSIDE void unspan(struct timespec *rest) {
	struct look l;
	if (rest && look(MONOTONIC, &l) == 0 && l.ppb != 0)
		put((int64_t)((double)ns(rest) * (1 + (double)l.ppb / 1e9)), rest);
}
