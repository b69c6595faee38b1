/* The libc's own functions behind ours. They are looked up when first called, and not
 * before: then the libc is ready. One that has no dlsym to offer (an old one's libdl may
 * not be loaded) leaves us the kernel, for what that can do. */
#ifndef REAL_H
#define REAL_H

#include <stddef.h>

extern void *dlsym(void *, const char *) __attribute__((weak));

__attribute__((noinline, unused)) static void *real(void **known, const char *name) {
	void *f = __atomic_load_n(known, __ATOMIC_ACQUIRE);
	if (!f && dlsym) {
		f = dlsym((void *)-1 /* RTLD_NEXT */, name);
		__atomic_store_n(known, f, __ATOMIC_RELEASE);
	}
	return f;
}

#define REAL(function) ({ static void *known; (__typeof__(&function))real(&known, #function); })

#endif
