/* Waits for locks by the moved clocks: their deadlines are absolute. */
#include "clock.h"
#include "real.h"

/* Each returns an error's number, but for semaphores, whose errors are in errno. */
#define NONE ENOSYS

extern void *dlvsym(void *, const char *, const char *) __attribute__((weak));

/* Under this name a libc may have two functions for two layouts of a condition; dlsym of
 * an old one finds the older. */
static void *timedwait(void) {
#if defined(__x86_64__)
	static const char since[] = "GLIBC_2.3.2";
#else
	static const char since[] = "GLIBC_2.17";
#endif
	static void *known;
	if (!__atomic_load_n(&known, __ATOMIC_ACQUIRE) && dlvsym)
		__atomic_store_n(&known, dlvsym((void *)-1 /* RTLD_NEXT */, "pthread_cond_timedwait", since), __ATOMIC_RELEASE);
	return real(&known, "pthread_cond_timedwait");
}

int pthread_cond_timedwait(void *cond, void *mutex, const struct timespec *d) {
	struct timespec own;
	int (*f)(void *, void *, const struct timespec *) = timedwait();
	return f ? f(cond, mutex, guessed(d, &own)) : NONE;
}

int pthread_cond_clockwait(void *cond, void *mutex, int id, const struct timespec *d) {
	struct timespec own;
	int (*f)(void *, void *, int, const struct timespec *) = REAL(pthread_cond_clockwait);
	return f ? f(cond, mutex, id, deadline(id, d, &own)) : NONE;
}

int sem_timedwait(void *sem, const struct timespec *d) {
	struct timespec own;
	int (*f)(void *, const struct timespec *) = REAL(sem_timedwait);
	return f ? f(sem, deadline(REALTIME, d, &own)) : (int)answer(-ENOSYS);
}

int sem_clockwait(void *sem, int id, const struct timespec *d) {
	struct timespec own;
	int (*f)(void *, int, const struct timespec *) = REAL(sem_clockwait);
	return f ? f(sem, id, deadline(id, d, &own)) : (int)answer(-ENOSYS);
}

/* What waits for one thing until a time of the wall clock, or of one that it names. */
#define TIMED(function)                                                 \
	int function(void *what, const struct timespec *d) {            \
		struct timespec own;                                    \
		int (*f)(void *, const struct timespec *) = REAL(function); \
		return f ? f(what, deadline(REALTIME, d, &own)) : NONE; \
	}
#define CLOCKED(function)                                                \
	int function(void *what, int id, const struct timespec *d) {     \
		struct timespec own;                                     \
		int (*f)(void *, int, const struct timespec *) = REAL(function); \
		return f ? f(what, id, deadline(id, d, &own)) : NONE;    \
	}

TIMED(pthread_mutex_timedlock)
CLOCKED(pthread_mutex_clocklock)
TIMED(pthread_rwlock_timedrdlock)
CLOCKED(pthread_rwlock_clockrdlock)
TIMED(pthread_rwlock_timedwrlock)
CLOCKED(pthread_rwlock_clockwrlock)
