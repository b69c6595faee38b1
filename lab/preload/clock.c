/* A clock for one server, apart from its machine's: preloaded into the server, it
 * adds to the wall clock what a mapped file says. It makes the system calls itself
 * and needs no libc, because some programs ask for the time before theirs is ready
 * (redis-server's allocator does). The monotonic clock is left alone.
 *
 * The file holds three 64-bit numbers: an offset in ns, the monotonic instant since
 * when a drift counts in ns, and the drift in parts per billion. */
#include <stdint.h>

struct timespec { int64_t sec, nsec; };
struct timeval { int64_t sec, usec; };
struct skew { int64_t offset, since, ppb; };

static volatile const struct skew *skew;

static long call(long n, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
	long r;
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
		x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "no system calls for this processor yet"
#endif
}

#if defined(__x86_64__)
enum { SYS_mmap = 9, SYS_clock_gettime = 228, SYS_openat = 257 };
#else
enum { SYS_openat = 56, SYS_clock_gettime = 113, SYS_mmap = 222 };
#endif
enum { REALTIME = 0, MONOTONIC = 1, REALTIME_COARSE = 5, AT_FDCWD = -100, READ = 1, SHARED = 1, BILLION = 1000000000 };

int clock_gettime(int id, struct timespec *ts) {
	long r = call(SYS_clock_gettime, id, (long)ts, 0, 0, 0, 0);
	if (r != 0 || skew == 0 || (id != REALTIME && id != REALTIME_COARSE))
		return r ? -1 : 0;
	int64_t ahead = skew->offset;
	if (skew->ppb != 0) {
		struct timespec mono;
		call(SYS_clock_gettime, MONOTONIC, (long)&mono, 0, 0, 0, 0);
		ahead += (int64_t)((double)(mono.sec * BILLION + mono.nsec - skew->since) * ((double)skew->ppb / 1e9));
	}
	int64_t ns = ts->sec * BILLION + ts->nsec + ahead;
	ts->sec = ns / BILLION;
	ts->nsec = ns % BILLION;
	return 0;
}

int gettimeofday(struct timeval *tv, void *zone) {
	struct timespec ts;
	(void)zone;
	if (clock_gettime(REALTIME, &ts) != 0)
		return -1;
	tv->sec = ts.sec;
	tv->usec = ts.nsec / 1000;
	return 0;
}

int64_t time(int64_t *t) {
	struct timespec ts;
	if (clock_gettime(REALTIME, &ts) != 0)
		return -1;
	if (t)
		*t = ts.sec;
	return ts.sec;
}

__attribute__((constructor)) static void map(int argc, char **argv, char **env) {
	static const char name[] = "LOCKBENCH_CLOCK=";
	(void)argc, (void)argv;
	for (; env && *env; env++) {
		int i = 0;
		while (name[i] && (*env)[i] == name[i])
			i++;
		if (name[i])
			continue;
		long fd = call(SYS_openat, AT_FDCWD, (long)(*env + i), 0, 0, 0, 0);
		if (fd < 0)
			return;
		long p = call(SYS_mmap, 0, sizeof(struct skew), READ, SHARED, fd, 0);
		if (p > 0 || p < -4095)
			skew = (const struct skew *)p;
	}
}
