"""Tells its clocks, and sleeps 100 ms in every way that Python and the libc have."""
import asyncio, ctypes, queue, select, struct, subprocess, sys, threading, time

NAP = 100_000_000
libc = ctypes.CDLL(None, use_errno=True)


def clocks():
    return time.time_ns(), time.monotonic_ns()


def get(q):
    try:
        q.get(timeout=0.1)
    except queue.Empty:
        pass


def spec(ns):
    return struct.pack("=qq", *divmod(ns, 10**9))


def memory():
    return ctypes.create_string_buffer(128)


def after(clock):
    return spec(time.clock_gettime_ns(clock) + NAP)


REAL, MONO, ABSTIME = time.CLOCK_REALTIME, time.CLOCK_MONOTONIC, 1


def cond(clock):
    c, m, attr = memory(), memory(), memory()
    libc.pthread_condattr_init(attr)
    libc.pthread_condattr_setclock(attr, clock)
    libc.pthread_cond_init(c, attr)
    libc.pthread_mutex_init(m, None)
    libc.pthread_mutex_lock(m)
    libc.pthread_cond_timedwait(c, m, after(clock))


def mutex():
    m = memory()
    libc.pthread_mutex_init(m, None)
    libc.pthread_mutex_lock(m)
    libc.pthread_mutex_timedlock(m, after(REAL))


def semaphore(wait):
    s = memory()
    libc.sem_init(s, 0, 0)
    wait(s)


def timer(clock, flags, first):
    fd = libc.timerfd_create(clock, 0)
    libc.timerfd_settime(fd, flags, spec(0) + first, None)
    open(fd, "rb", buffering=0).read(8)


def futex():  # as Rust's library waits
    word = ctypes.c_uint32(0)
    wait_bitset, private, number = 9, 128, {"x86_64": 202, "aarch64": 98}[__import__("os").uname().machine]
    libc.syscall(ctypes.c_long(number), ctypes.byref(word), ctypes.c_long(wait_bitset | private), ctypes.c_long(0),
                 after(MONO), None, ctypes.c_long(0xFFFFFFFF))


ways = {
    "time.sleep": lambda: time.sleep(0.1),
    "Event.wait": lambda: threading.Event().wait(0.1),
    "Queue.get": lambda: get(queue.Queue()),
    "SimpleQueue.get": lambda: get(queue.SimpleQueue()),
    "select": lambda: select.select([], [], [], 0.1),
    "poll": lambda: select.poll().poll(100),
    "asyncio.sleep": lambda: asyncio.run(asyncio.sleep(0.1)),
    "usleep": lambda: libc.usleep(100_000),
    "nanosleep": lambda: libc.nanosleep(spec(NAP), None),
    "clock_nanosleep": lambda: libc.clock_nanosleep(MONO, 0, spec(NAP), None),
    "clock_nanosleep until": lambda: libc.clock_nanosleep(REAL, ABSTIME, after(REAL), None),
    "cond": lambda: cond(REAL),
    "monotonic cond": lambda: cond(MONO),
    "mutex": mutex,
    "sem_timedwait": lambda: semaphore(lambda s: libc.sem_timedwait(s, after(REAL))),
    "sem_clockwait": lambda: semaphore(lambda s: libc.sem_clockwait(s, MONO, after(MONO))),
    "timeout": lambda: subprocess.run(["timeout", "0.1", "sleep", "5"]),
    "timerfd": lambda: timer(MONO, 0, spec(NAP)),
    "timerfd until": lambda: timer(REAL, ABSTIME, after(REAL)),
    "futex": futex,
}


def sleep(way):
    begin = time.monotonic_ns()
    ways[way]()
    told.append(f"{way}:{begin}:{time.monotonic_ns()}")


like = [time.CLOCK_MONOTONIC_RAW, time.CLOCK_BOOTTIME, 6]  # 6 is the coarse one


def apart():
    return [time.clock_gettime_ns(c) - time.monotonic_ns() for c in like]


first = apart()
for line in sys.stdin:
    if line == "read\n":
        print(*clocks(), flush=True)
    elif line == "grandchild\n":  # in a session of its own
        print(*subprocess.run([sys.executable, "-c", "import time; print(time.time_ns(), time.monotonic_ns())"],
                              start_new_session=True, stdout=subprocess.PIPE, text=True).stdout.split(), flush=True)
    elif line == "alike\n":  # how far the monotonic clocks have come apart
        print(max(abs(a - b) for a, b in zip(apart(), first)), 0, flush=True)
    else:
        told = []
        threads = [threading.Thread(target=sleep, args=[way]) for way in ways]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(",".join(told), flush=True)
