#!/usr/bin/python3
"""The locks of kazoo, as its documentation shows them: Lock, by argument ReadLock and WriteLock
(rw), or Semaphore with one lease (semaphore).

    zk = KazooClient(hosts, timeout=ttl)
    zk.add_listener(listener)
    zk.start()
    lock = zk.Lock(path, identifier)
    lock.acquire(); lock.release()
"""
import sys, urllib.parse
import kazoo.version, lockbench
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import CancelledError

KIND = sys.argv[1] if len(sys.argv) > 1 else "mutex"

class Kazoo(lockbench.Lock):
    versions = {"kazoo": kazoo.version.__version__}

    def open(self, servers, ttl):
        self.held, self.session, self.waits = {}, 0, None  # by owner: the lock, and in which session it was granted
        self.zk = KazooClient(hosts=",".join(servers), timeout=ttl)
        self.zk.add_listener(self.listen)
        self.zk.start()

    def listen(self, state):
        """What kazoo's page "Listening for Connection Events" tells to register. It is called
        before anything is sent in the next session."""
        if state == KazooState.LOST:
            self.session += 1
            for owner in list(self.held):
                self.lost(owner, "the session is LOST")

    def make(self, lock, owner):
        path = "/lockbench-peer/_" + urllib.parse.quote(lock, safe="")
        if KIND == "semaphore":
            return self.zk.Semaphore(path, owner, max_leases=1)
        kind = self.zk.ReadLock if self.shared else self.zk.WriteLock if KIND == "rw" else self.zk.Lock
        return kind(path, owner)

    def acquire(self, lock, owner):
        self.waits = mine = self.make(lock, owner)
        try:
            if not mine.acquire(blocking=not self.trying):
                raise lockbench.Held
            self.held[owner] = mine, self.session
        except CancelledError as e:
            # The library has tried to delete its node, and does not tell whether it could.
            raise lockbench.NoEffect(e) if self.zk.connected else e
        finally:
            self.waits = None

    def cancel(self):
        if self.waits:
            self.waits.cancel()

    def release(self, lock, owner):
        """Lock.release does not tell whether there was a node to delete. It was there until now
        if the session in which it was made is still the same."""
        if owner not in self.held:
            raise lockbench.Lost("it was not granted")
        (mine, session), before = self.held[owner], self.session
        mine.release()
        del self.held[owner]
        if session != before:
            raise lockbench.Lost("the session was LOST")
        if self.session != before:
            raise lockbench.Released("the session was LOST meanwhile")

    def close(self):
        self.zk.stop()

lockbench.serve(Kazoo, {"mutex": "kazoo_lock.json", "rw": "kazoo_rw.json", "semaphore": "kazoo_semaphore.json"}[KIND])
