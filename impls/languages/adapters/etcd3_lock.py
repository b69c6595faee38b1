#!/usr/bin/python3
"""The lock of python-etcd3, as its documentation shows it. Nothing renews it unless its user
calls refresh().

    etcd = etcd3.client(host, port)
    lock = etcd.lock(name, ttl=20)
    lock.acquire(timeout=10)
    lock.is_acquired()
    lock.release()

With tenacity 7 and later an acquire that should wait ends with a TypeError instead
(kragniz/python-etcd3#1543). One that should not wait works, and so lockbench waits; by the
argument waits the library is to, as its documentation has it.
"""
import math, sys, time
import etcd3, lockbench, tenacity
from importlib import metadata

class Etcd3(lockbench.Lock):
    versions = {name: metadata.version(name) for name in ("etcd3", "tenacity", "grpcio")}

    def open(self, servers, ttl):
        host, port = servers[0].rsplit(":", 1)
        self.etcd = etcd3.client(host, int(port), timeout=5)  # without one, a call may wait for ever
        self.seconds, self.locks = max(1, math.ceil(ttl)), {}

    def acquire(self, lock, owner):
        mine = self.locks[owner] = self.etcd.lock(lock, ttl=self.seconds)
        mine.uuid = owner.encode()  # the value of its key
        call = time.monotonic_ns()
        if not mine.acquire(timeout=10 if sys.argv[1:] == ["waits"] else 0):
            del self.locks[owner]
            raise lockbench.Held
        return self.until(call)

    def valid(self, lock, owner):
        return owner in self.locks and self.locks[owner].is_acquired()

    def release(self, lock, owner):
        """It compares the value, and so also finds what an acquire has put there whose answer
        was lost."""
        held = owner in self.locks and self.locks[owner].release()
        self.locks.pop(owner, None)
        if not held:
            raise lockbench.Lost

    def close(self):
        self.etcd.close()

lockbench.serve(Etcd3, "etcd3_lock.json")
