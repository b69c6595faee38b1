#!/usr/bin/python3
"""A lock in Python to start from: lockbench run --exec ./template.py"""
import time
import lockbench, redis

DELETE_IF_MINE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"

class Lock(lockbench.Lock):
    name, doc = "my-lock", "SET NX PX and compare-and-delete"
    topologies = ["redis"]      # where it runs
    requests = ["set", "eval"]  # what it sends, in this order
    takes = "set"               # whose answer makes it the holder
    scripts = True
    traits = {"leased": True}   # a grant ends by itself, and the holder knows when
    round_trips = {"acquire": 1, "release": 1}
    versions = {"redis-py": redis.__version__}

    def open(self, servers, ttl):
        host, port = servers[0].rsplit(":", 1)
        self.redis, self.ttl = redis.Redis(host, int(port)), ttl
        self.redis.ping()

    def acquire(self, lock, owner):
        call = time.monotonic_ns()  # before the request: the lease may begin at once
        if not self.redis.set(lock, owner, nx=True, px=int(self.ttl * 1000)):
            raise lockbench.Held    # lockbench asks again
        return self.until(call)

    def release(self, lock, owner):
        if not self.redis.eval(DELETE_IF_MINE, 1, lock, owner):
            raise lockbench.Lost

lockbench.serve(Lock)
