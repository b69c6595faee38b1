#!/usr/bin/python3
"""The locks of OpenStack's tooz as its documentation shows them, on the backend that the argument
names: memcached, mysql or postgresql. lockbench waits.

    coordinator = coordination.get_coordinator("memcached://host", b"member")
    coordinator.start(start_heart=True)
    lock = coordinator.get_lock("name")
    lock.acquire(blocking=False)
    lock.is_still_owner()
    lock.release()

The heart beats twice in a timeout, and renews what is held on memcached. The others have no
timeout: a lock there ends with a connection of its own.
"""
import hashlib, math, sys, time
from importlib import metadata
import lockbench
from tooz import coordination

KIND = sys.argv[1] if len(sys.argv) > 1 else "memcached"

class Tooz(lockbench.Lock):
    versions = {name: metadata.version(name) for name in ("tooz", {"memcached": "pymemcache", "mysql": "PyMySQL", "postgresql": "psycopg2"}[KIND])}

    def open(self, servers, ttl):
        self.locks, self.seconds = {}, math.ceil(ttl)  # by owner; memcached counts whole seconds
        url = {"memcached": f"memcached://{servers[0]}?timeout={self.seconds}",
               "mysql": f"mysql://lockbench@{servers[0]}/lockbench",
               "postgresql": f"postgresql://lockbench@{servers[0]}?dbname=lockbench"}[KIND]
        self.tooz = coordination.get_coordinator(url, self.client.encode())
        self.tooz.start(start_heart=self.tooz.requires_beating)
        while self.tooz.requires_beating and not self.tooz.heart.beats:
            time.sleep(0.001)

    def acquire(self, lock, owner):
        # memcached takes 250 letters with no space between them, MySQL 64 of any case.
        name = hashlib.sha256(lock.encode()).hexdigest()
        mine = self.locks[owner] = self.tooz.get_lock(name.encode())
        if not mine.acquire(blocking=False):
            raise lockbench.Held

    def valid(self, lock, owner):
        return owner in self.locks and self.locks[owner].is_still_owner()

    def release(self, lock, owner):
        if owner not in self.locks or not self.locks[owner].release():
            raise lockbench.Lost

    def close(self):
        self.tooz.stop()

lockbench.serve(Tooz, f"tooz_{KIND}.json")
