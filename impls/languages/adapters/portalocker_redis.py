#!/usr/bin/python3
"""portalocker.RedisLock as its documentation shows it, over a connection of its user's. Who holds
the lock is subscribed to a channel of its name, and nothing else. lockbench waits.

    lock = portalocker.RedisLock("name", connection=redis.Redis(health_check_interval=10))
    lock.acquire()
    lock.release()

When its thread hears that the subscription has ended, the library interrupts the main thread,
as Ctrl-C does. That is the only notice, and does not say of which lock.
"""
import os, signal, threading, urllib.parse
from importlib import metadata
import lockbench, portalocker, redis

class Portalocker(lockbench.Lock):
    versions = {"portalocker": metadata.version("portalocker"), "redis-py": redis.__version__}

    def __init__(self):
        """The main thread reads what lockbench asks, and a read is not interrupted: another hears it."""
        self.locks, self.gone = {}, {}  # by owner; of those that are gone, what their release says
        told, tells = os.pipe()
        os.set_blocking(tells, False)
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.set_wakeup_fd(tells)
        threading.Thread(target=self.listen, args=(told,), daemon=True).start()

    def listen(self, told):
        while os.read(told, 1):
            holders = [owner for owner, lock in list(self.locks.items()) if lock.pubsub]
            for owner in holders:
                self.gone.setdefault(owner, lockbench.Lost if len(holders) == 1 else lockbench.Released)  # of several it may be another's
                self.lost(owner, "the library has interrupted the main thread")

    def open(self, servers, ttl):
        host, port = servers[0].rsplit(":", 1)
        self.redis = redis.Redis(host, int(port), health_check_interval=10)
        self.redis.ping()

    def acquire(self, lock, owner):
        mine = self.locks[owner] = portalocker.RedisLock(urllib.parse.quote(lock), connection=self.redis, timeout=0, fail_when_locked=True)
        try:
            mine.acquire()
        except portalocker.AlreadyLocked as e:
            raise lockbench.Held(e)

    def release(self, lock, owner):
        """It does not tell whether there was a subscription to end: there was, if nothing was heard of its end."""
        mine = self.locks.get(owner)
        had = mine and mine.pubsub
        if mine:
            mine.release()
        if not had:
            raise lockbench.Lost
        if owner in self.gone:
            raise self.gone[owner]

lockbench.serve(Portalocker, "portalocker_redis.json")
