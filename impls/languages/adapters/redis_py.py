#!/usr/bin/python3
"""redis.lock.Lock of redis-py, as its documentation shows it, over a client as it comes: no
timeout, and nothing is sent twice.

    lock = redis.Redis(host, port).lock(name, timeout=ttl)
    lock.acquire(blocking=False)
    lock.owned()
    lock.release()
"""
import time
import lockbench, redis
from redis.exceptions import LockNotOwnedError

class RedisPy(lockbench.Lock):
    versions = {"redis-py": redis.__version__}

    def open(self, servers, ttl):
        host, port = servers[0].rsplit(":", 1)
        self.redis, self.ttl = redis.Redis(host, int(port)), ttl
        self.redis.ping()

    def lock(self, name):
        return self.redis.lock(name, timeout=self.ttl, thread_local=False)

    def acquire(self, lock, owner):
        call = time.monotonic_ns()
        if not self.lock(lock).acquire(blocking=False, token=owner):
            raise lockbench.Held
        return self.until(call)

    def valid(self, lock, owner):
        mine = self.lock(lock)
        mine.local.token = owner.encode()
        return mine.owned()

    def release(self, lock, owner):
        # A Lock knows its token only after an acquire that was answered, and forgets it before
        # it asks to release. So the clean-up after a lost answer needs a Lock that is given the
        # token; a user of the library who keeps tokens can do this, and no other.
        mine = self.lock(lock)
        mine.local.token = owner.encode()
        try:
            mine.release()
        except LockNotOwnedError as e:
            raise lockbench.Lost(e)

lockbench.serve(RedisPy, "redis_py.json")
