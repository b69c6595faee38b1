"""Two locks of different names in tooz on PostgreSQL. Who holds one keeps everybody from the other."""
import hashlib, sys
from importlib import metadata
from urllib.parse import urlsplit
from tooz import coordination

at = urlsplit((sys.argv[1:] or ["postgres://postgres@localhost:5432/postgres"])[0])
print("tooz", metadata.version("tooz"))

# The first two names whose MD5 begins with the same two bytes, of as many as can't all differ.
seen = {}
for n in range(1, 2**16 + 2):
    name = b"volume-%d" % n
    other = seen.setdefault(hashlib.md5(name).digest()[:2], name)
    if other != name:
        break
a, b = (coordination.get_coordinator(f"postgresql://{at.username}@{at.hostname}:{at.port}?dbname={at.path[1:]}", m) for m in (b"a", b"b"))
a.start(), b.start()
first, second = a.get_lock(other), b.get_lock(name)
print("a acquires", other.decode(), ":", first.acquire(blocking=False))
got = second.acquire(blocking=False)
print("b acquires", name.decode(), ":", got)
first.release()
after = second.acquire(blocking=False)
print("b acquires", name.decode(), "when a has released", other.decode(), ":", after)
a.stop(), b.stop()
print("promised: a lock by its name, so that two names are two locks")
sys.exit(0 if not got and after else 1)
