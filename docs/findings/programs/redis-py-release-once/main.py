"""The server refuses a release for a moment. It can't be asked again, and the lock stays taken."""
import sys
import redis

host, port = (sys.argv[1:] or ["localhost:6379"])[0].rsplit(":", 1)
server = redis.Redis(host, int(port))
print("redis-py", redis.__version__)
lock = server.lock("once", timeout=60)
print("acquire() returned", lock.acquire())
server.config_set("min-replicas-to-write", 1)  # a replica is missing for a moment
try:
    print("release() returned", lock.release())
except redis.RedisError as e:
    print("the 1st release() raised", type(e).__name__ + ":", e)
server.config_set("min-replicas-to-write", 0)
try:
    print("the 2nd release() returned", lock.release())
    shown = False
except redis.exceptions.LockError as e:
    print("the 2nd release() raised", type(e).__name__ + ":", e)
    shown = True
left = server.pttl("once")
print("the lock stays taken for another", left, "ms")
server.delete("once")
print("promised: release releases the already acquired lock")
sys.exit(0 if shown and left > 0 else 1)
