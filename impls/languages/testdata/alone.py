#!/usr/bin/python3
"""Cycles of redis-py's lock by itself: for each number on standard input so many, and the ns that
they took on standard output."""
import sys, time
import redis

host, port = sys.argv[1].rsplit(":", 1)
client = redis.Redis(host, int(port))
for line in sys.stdin:
    begin = time.monotonic_ns()
    for i in range(int(line)):
        lock = client.lock("lockbench-alone", timeout=10, thread_local=False)
        lock.acquire(blocking=False, token=f"alone.{i}")
        lock.release()
    print(time.monotonic_ns() - begin, flush=True)
