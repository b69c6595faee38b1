/* Sleeps and polls by the moved clocks. */
#include "clock.h"
#include "real.h"

int clock_nanosleep(int id, int flags, const struct timespec *d, struct timespec *rest) {
	struct timespec own;
	const struct timespec *t = flags & ABSTIME ? deadline(id, d, &own) : span(d, &own);
	int (*f)(int, int, const struct timespec *, struct timespec *) = REAL(clock_nanosleep);
	int r = f ? f(id, flags, t, rest) : (int)-call(SYS_clock_nanosleep, id, flags, (long)t, (long)rest, 0, 0);
	if (r == EINTR && t != d && !(flags & ABSTIME))
		unspan(rest);
	return r;
}

int nanosleep(const struct timespec *d, struct timespec *rest) {
	struct timespec own;
	const struct timespec *t = span(d, &own);
	int (*f)(const struct timespec *, struct timespec *) = REAL(nanosleep);
	int r = f ? f(t, rest) : (int)answer(call(SYS_clock_nanosleep, MONOTONIC, 0, (long)t, (long)rest, 0, 0));
	if (r != 0 && t != d && __errno_location && *__errno_location() == EINTR)
		unspan(rest);
	return r;
}

unsigned sleep(unsigned s) {
	unsigned (*f)(unsigned) = REAL(sleep);
	if (f && !spans())
		return f(s);
	struct timespec t = {s, 0};
	if (nanosleep(&t, &t) == 0)
		return 0;
	return (unsigned)(t.sec + (t.nsec >= BILLION / 2));
}

int usleep(unsigned us) {
	int (*f)(unsigned) = REAL(usleep);
	if (f && !spans())
		return f(us);
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	return nanosleep(&t, 0);
}

/* millis is a time in ms, of which those below nought mean forever. */
static int millis(int ms) {
	struct timespec own, t = {ms / 1000, ms % 1000 * 1000000};
	if (ms <= 0 || span(&t, &own) == &t)
		return ms;
	int64_t r = own.sec * 1000 + (own.nsec + 999999) / 1000000;
	return r > INT32_MAX ? INT32_MAX : (int)r;
}

/* timeout is ms for a system call that takes a timespec. */
static struct timespec *timeout(int ms, struct timespec *t) {
	t->sec = ms / 1000;
	t->nsec = ms % 1000 * 1000000;
	return ms < 0 ? 0 : t;
}

int poll(void *fds, unsigned long n, int ms) {
	struct timespec t;
	int (*f)(void *, unsigned long, int) = REAL(poll);
	ms = millis(ms);
	return f ? f(fds, n, ms) : (int)answer(call(SYS_ppoll, (long)fds, (long)n, (long)timeout(ms, &t), 0, 8, 0));
}

int ppoll(void *fds, unsigned long n, const struct timespec *d, const void *mask) {
	struct timespec own, t;
	int (*f)(void *, unsigned long, const struct timespec *, const void *) = REAL(ppoll);
	d = span(d, &own);
	if (f)
		return f(fds, n, d, mask);
	if (d)
		t = *d; /* the kernel writes there what is left */
	return (int)answer(call(SYS_ppoll, (long)fds, (long)n, (long)(d ? &t : 0), (long)mask, 8, 0));
}

/* What poll and ppoll are called in a program that was built to check its buffers. */
int __poll_chk(void *fds, unsigned long n, int ms, size_t size) {
	int (*f)(void *, unsigned long, int, size_t) = REAL(__poll_chk);
	return f ? f(fds, n, millis(ms), size) : poll(fds, n, ms);
}

int __ppoll_chk(void *fds, unsigned long n, const struct timespec *d, const void *mask, size_t size) {
	struct timespec own;
	int (*f)(void *, unsigned long, const struct timespec *, const void *, size_t) = REAL(__ppoll_chk);
	return f ? f(fds, n, span(d, &own), mask, size) : ppoll(fds, n, d, mask);
}

int select(int n, void *r, void *w, void *e, struct timeval *tv) {
	int (*f)(int, void *, void *, void *, struct timeval *) = REAL(select);
	if (f && (!tv || !spans()))
		return f(n, r, w, e, tv);
	struct timespec own, t;
	if (tv) {
		t.sec = tv->sec + tv->usec / 1000000;
		t.nsec = tv->usec % 1000000 * 1000;
		own = *span(&t, &own);
	}
	int found;
	if (f) {
		struct timeval rest = {own.sec, (own.nsec + 999) / 1000};
		found = f(n, r, w, e, &rest);
		own = (struct timespec){rest.sec, rest.usec * 1000};
	} else {
		found = (int)answer(call(SYS_pselect6, n, (long)r, (long)w, (long)e, (long)(tv ? &own : 0), 0));
	}
	if (tv) {
		unspan(&own);
		*tv = (struct timeval){own.sec, own.nsec / 1000};
	}
	return found;
}

int pselect(int n, void *r, void *w, void *e, const struct timespec *d, const void *mask) {
	struct timespec own, t;
	int (*f)(int, void *, void *, void *, const struct timespec *, const void *) = REAL(pselect);
	d = span(d, &own);
	if (f)
		return f(n, r, w, e, d, mask);
	struct { const void *mask; size_t size; } m = {mask, 8};
	if (d)
		t = *d;
	return (int)answer(call(SYS_pselect6, n, (long)r, (long)w, (long)e, (long)(d ? &t : 0), (long)&m));
}

int epoll_wait(int fd, void *events, int n, int ms) {
	int (*f)(int, void *, int, int) = REAL(epoll_wait);
	ms = millis(ms);
	return f ? f(fd, events, n, ms) : (int)answer(call(SYS_epoll_pwait, fd, (long)events, n, ms, 0, 8));
}

int epoll_pwait(int fd, void *events, int n, int ms, const void *mask) {
	int (*f)(int, void *, int, int, const void *) = REAL(epoll_pwait);
	ms = millis(ms);
	return f ? f(fd, events, n, ms, mask) : (int)answer(call(SYS_epoll_pwait, fd, (long)events, n, ms, (long)mask, 8));
}

int epoll_pwait2(int fd, void *events, int n, const struct timespec *d, const void *mask) {
	struct timespec own;
	int (*f)(int, void *, int, const struct timespec *, const void *) = REAL(epoll_pwait2);
	return f ? f(fd, events, n, span(d, &own), mask) : (int)answer(-ENOSYS);
}
