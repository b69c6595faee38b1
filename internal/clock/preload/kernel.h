/* System calls, made without a libc: some programs ask for the time before theirs is
 * ready (redis-server's allocator does). */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

struct timespec { int64_t sec, nsec; };
struct timeval { int64_t sec, usec; };

#if defined(__x86_64__)
enum {
	SYS_close = 3, SYS_mmap = 9, SYS_setitimer = 38, SYS_futex = 202, SYS_clock_gettime = 228, SYS_clock_nanosleep = 230,
	SYS_openat = 257, SYS_pselect6 = 270, SYS_ppoll = 271, SYS_epoll_pwait = 281
};
#elif defined(__aarch64__)
enum {
	SYS_epoll_pwait = 22, SYS_openat = 56, SYS_close = 57, SYS_pselect6 = 72, SYS_ppoll = 73,
	SYS_futex = 98, SYS_setitimer = 103, SYS_clock_gettime = 113, SYS_clock_nanosleep = 115, SYS_mmap = 222
};
#endif
enum { REALTIME = 0, MONOTONIC = 1, MONOTONIC_RAW = 4, REALTIME_COARSE = 5, MONOTONIC_COARSE = 6, BOOTTIME = 7 };
enum { ABSTIME = 1, EINTR = 4, ENOSYS = 38, BILLION = 1000000000 };

static inline long call(long n, long a, long b, long c, long d, long e, long f) {
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

extern int *__errno_location(void) __attribute__((weak));

/* answer is what a libc makes of a system call's result. */
static inline long answer(long r) {
	if (r >= 0 || r < -4095)
		return r;
	if (__errno_location)
		*__errno_location() = (int)-r;
	return -1;
}

#endif
