/* Timers that tell when they are over, by the moved clocks. Whoever asks one for what is
 * left of it is told the machine's time. */
#include "clock.h"
#include "real.h"

struct itimerspec { struct timespec every, first; };
struct itimerval { struct timeval every, first; };

/* set is what to set a timer to: *t itself, or *own. Nought disarms it, and must stay that. */
static const struct itimerspec *set(const struct itimerspec *t, int flags, struct itimerspec *own) {
	struct timespec buffer;
	if (!t || still() || (t->first.sec == 0 && t->first.nsec == 0))
		return t;
	own->first = *(flags & ABSTIME ? guessed(&t->first, &buffer) : span(&t->first, &buffer));
	own->every = *span(&t->every, &buffer);
	if (own->first.sec == 0 && own->first.nsec == 0)
		own->first.nsec = 1;
	return own;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *t, struct itimerspec *old) {
	struct itimerspec own;
	int (*f)(int, int, const struct itimerspec *, struct itimerspec *) = REAL(timerfd_settime);
	return f ? f(fd, flags, set(t, flags, &own), old) : (int)answer(-ENOSYS);
}

int timer_settime(void *timer, int flags, const struct itimerspec *t, struct itimerspec *old) {
	struct itimerspec own;
	int (*f)(void *, int, const struct itimerspec *, struct itimerspec *) = REAL(timer_settime);
	return f ? f(timer, flags, set(t, flags, &own), old) : (int)answer(-ENOSYS);
}

static struct timeval micros(const struct timespec *t) {
	int64_t us = t->sec * 1000000 + (t->nsec + 999) / 1000;
	return (struct timeval){us / 1000000, us % 1000000};
}

int setitimer(int which, const struct itimerval *t, struct itimerval *old) {
	int (*f)(int, const struct itimerval *, struct itimerval *) = REAL(setitimer);
	if (!f)
		return (int)answer(call(SYS_setitimer, which, (long)t, (long)old, 0, 0, 0));
	if (which != 0 /* processor time */ || !t || !spans())
		return f(which, t, old);
	struct itimerspec own, by = {{t->every.sec, t->every.usec * 1000}, {t->first.sec, t->first.usec * 1000}};
	const struct itimerspec *to = set(&by, 0, &own);
	struct itimerval moved = {micros(&to->every), micros(&to->first)};
	return f(which, &moved, old);
}

unsigned alarm(unsigned s) {
	unsigned (*f)(unsigned) = REAL(alarm);
	if (f && !spans())
		return f(s);
	struct itimerval t = {{0, 0}, {s, 0}}, old = {{0, 0}, {0, 0}};
	setitimer(0, &t, &old);
	return (unsigned)(old.first.sec + (old.first.usec != 0));
}
