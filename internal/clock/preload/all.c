/* All in one piece, which compiles in half the time of the parts. */
#include "clock.c"
#include "translate.c"
#include "sleeps.c"
#include "alarms.c"
#include "locks.c"
#include "syscall.c"
