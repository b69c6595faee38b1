/* Programs that make system calls by number: Rust's locks wait for futexes so. */
#include "clock.h"
#include <stdarg.h>

extern int clock_gettime(int, struct timespec *);

/* From the kernel's linux/futex.h. */
enum { FUTEX_WAIT = 0, FUTEX_WAIT_BITSET = 9, FUTEX_COMMAND = 127, FUTEX_CLOCK_REALTIME = 256 };

long syscall(long n, ...) {
	long a[6];
	va_list rest;
	va_start(rest, n);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(rest, long);
	va_end(rest);
	struct timespec own;
	if (n == SYS_clock_gettime)
		return clock_gettime((int)a[0], (struct timespec *)a[1]);
	if (n == SYS_futex && (a[1] & FUTEX_COMMAND) == FUTEX_WAIT)
		a[3] = (long)span((const struct timespec *)a[3], &own);
	if (n == SYS_futex && (a[1] & FUTEX_COMMAND) == FUTEX_WAIT_BITSET)
		a[3] = (long)deadline(a[1] & FUTEX_CLOCK_REALTIME ? REALTIME : MONOTONIC, (const struct timespec *)a[3], &own);
	return answer(call(n, a[0], a[1], a[2], a[3], a[4], a[5]));
}
