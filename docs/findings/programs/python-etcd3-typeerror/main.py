"""A waits for a lock that B holds: acquire() raises a TypeError instead of waiting."""
import sys
from importlib import metadata
import etcd3

host, port = (sys.argv[1:] or ["localhost:2379"])[0].rsplit(":", 1)
print("python-etcd3", metadata.version("etcd3"), "with tenacity", metadata.version("tenacity"))
a, b = (etcd3.client(host, int(port), timeout=5) for _ in range(2))
holder, waiter = b.lock("typeerror", ttl=10), a.lock("typeerror", ttl=10)
print("B, when the lock is free: acquire() returned", holder.acquire(timeout=2))
try:
    print("A, when B has it: acquire(timeout=2) returned", waiter.acquire(timeout=2))
    shown = False
except TypeError as e:
    print("A, when B has it: acquire(timeout=2) raised TypeError:", e)
    shown = True
holder.release()
print("promised: acquire waits up to the timeout, and returns False if it has not got the lock")
sys.exit(0 if shown else 1)
