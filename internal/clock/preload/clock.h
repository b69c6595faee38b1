/* The moved clocks, for those who read them and those who wait by them. */
#ifndef CLOCK_H
#define CLOCK_H

#include "kernel.h"

#define INSIDE __attribute__((visibility("hidden")))

/* How a clock differs from the machine's: by an offset in ns, and by ppb billionths of
 * the time since an instant of the machine's monotonic clock. */
struct skew { int64_t offset, since, ppb; };
struct clocks { struct skew wall, mono; };

/* One moment by the machine's clock and by the moved one, and how fast that runs. */
struct look { int64_t machine, moved, ppb; };

/* look reads a clock; a negative answer is the kernel's error. */
INSIDE long look(int id, struct look *l);

/* still: no clock is moved, so nothing may be translated. */
INSIDE int still(void);

/* deadline is the machine's time for one of the moved clock: d itself where that is the
 * same, else *own, which is filled. */
INSIDE const struct timespec *deadline(int id, const struct timespec *d, struct timespec *own);

/* guessed is deadline for one whose clock is not known: the one that it is nearer to. */
INSIDE const struct timespec *guessed(const struct timespec *d, struct timespec *own);

/* span is the machine's length of a time that is meant by the moved clock: d itself where
 * that is the same, else *own. */
INSIDE const struct timespec *span(const struct timespec *d, struct timespec *own);

/* spans says whether spans differ from the machine's at all. */
INSIDE int spans(void);

/* unspan turns a rest of the machine's time back, in place. */
INSIDE void unspan(struct timespec *rest);

#endif
