"""The protocol of lockbench (docs/protocol.md), for locks in Python. Copy this file beside
yours, derive a class from Lock, and end with lockbench.serve(YourLock)."""
import itertools, json, os, platform, queue, sys, threading, time, traceback

class Answer(Exception): say = "unknown"        # and so is every exception but these:
class Held(Answer): say = "held"                # somebody else has it, and nothing was taken
class Lost(Answer): say = "lost"                # it did not hold the lock any more
class Released(Answer): say = "released"        # whether it held the lock until now nobody knows
class NoEffect(Answer): say = "no-effect"       # it failed, and certainly left nothing behind
class Unsupported(Answer): say = "unsupported"  # there is no such mode

FIELDS = "name doc source topologies requests takes no_try scripts tables in_memory validates traits round_trips deviates rare"

class Lock:
    """One client. What describe tells are attributes of the class; trying and shared say what
    is asked for. All but cancel is called on one thread, which is always the same."""
    traits, versions, no_try, trying, shared = {}, {}, False, False, False
    def open(self, servers, ttl): pass  # servers are "host:port", ttl is in seconds
    def acquire(self, lock, owner): raise Unsupported  # until_ns, (until_ns, token) or None
    def release(self, lock, owner): raise Lost
    def valid(self, lock, owner): return True  # asked only where validates is True
    def cancel(self): pass  # ends what goes on, if it can, without waiting: called on another thread
    def close(self): pass
    def until(self, call_ns):  # the clocks of client and server may differ by 1% and 2 ms
        return call_ns + self.ttl_ns - self.ttl_ns // 100 - 2_000_000
    def lost(self, owner, why): self.program.notice(owner, say="lost", why=why)
    def renewed(self, owner, call_ns, until_ns):
        self.program.notice(owner, say="renewed", call_ns=call_ns, until_ns=until_ns)

class Program:
    def __init__(self, lock):
        self.out = os.fdopen(os.dup(1), "w")  # for messages only:
        os.dup2(2, 1)                         # what a library prints goes to the log
        self.lock, lock.program, self.guard, self.jobs = lock, self, threading.RLock(), queue.SimpleQueue()
        self.asked, self.running, self.opened, self.notices = {}, {}, False, itertools.count(1)
        self.holds, self.early, self.unsure = set(), [], set()  # owners; notices before their time

    def say(self, n, **message):
        with self.guard:
            print(json.dumps({"n": n, **message}), file=self.out, flush=True)

    def notice(self, owner, **message):
        with self.guard:
            if owner in self.holds:
                self.say(next(self.notices), owner=owner, **message)
            elif self.running.get("do") == "acquire" and self.running["owner"] == owner:
                self.early.append(message)  # until its grant is told

    def answer(self, q, say="ok", **more):
        """Answers a question, unless it was cancelled and is answered."""
        with self.guard:
            first = self.asked.pop(q["n"], None)
            if first:
                self.say(q["n"], say=say, **more)
                if q["do"] == "acquire" and say == "ok":
                    self.holds.add(q["owner"])
                    for message in self.early:
                        self.notice(q["owner"], **message)
            return first

    def run(self, q):
        lock = self.lock
        if q["do"] == "open":
            lock.client, lock.ttl_ns = q["client"], q["ttl_ns"]
            lock.open(q["servers"], q["ttl_ns"] / 1e9)
            self.opened = True
            return None
        if q["do"] == "release":
            self.holds.discard(q["owner"])
            return lock.release(q["lock"], q["owner"])
        if q["do"] == "valid":
            if not lock.valid(q["lock"], q["owner"]):
                raise Lost
            return None
        lock.trying, lock.shared = q.get("try", False), q.get("shared", False)
        if lock.trying and lock.no_try or lock.shared and not lock.traits.get("shared"):
            raise Unsupported
        return lock.acquire(q["lock"], q["owner"])

    def work(self):
        for q in iter(self.jobs.get, None):
            if q["do"] == "acquire" and q["n"] not in self.asked:
                continue  # cancelled before it began
            self.running, self.early, result = q, [], {}
            try:
                got = self.run(q)
                for field, value in zip(("until_ns", "token"), got if isinstance(got, tuple) else (got,)):
                    if value is not None:
                        result[field] = value
            except Answer as e:
                result = {"say": e.say, "why": str(e)}
            except Exception as e:
                result = {"say": "unknown", "why": f"{type(e).__name__}: {e}"[:1000]}
            release = (q["do"], q.get("owner"))
            if result.get("say") == "lost" and release in self.unsure:
                result["say"] = "released"  # an earlier release may have given it back
            if not self.answer(q, **result) or result.get("say") == "unknown":
                self.unsure.add(release)
            self.running = {}

    def cancel(self, q):
        threading.Timer(1, self.answer, (q, "unknown"), {"why": "cancelled, and it still goes on"}).start()
        try:
            if self.running is q:  # the next one is read only after this
                self.lock.cancel()
        except Exception:
            traceback.print_exc()

    def serve(self):
        threading.Thread(target=self.work, daemon=True).start()
        for q in map(json.loads, sys.stdin.buffer):
            do, n = q["do"], q["n"]
            if do == "close":
                break
            if do == "clock":
                self.say(n, say="ok", wall_ns=time.time_ns(), mono_ns=time.monotonic_ns())
            elif do == "describe":
                about = {f: getattr(self.lock, f) for f in FIELDS.split() if hasattr(self.lock, f)}
                self.say(n, say="ok", protocol=1, **about, versions={"python": platform.python_version(), **self.lock.versions})
            elif do == "cancel" and n in self.asked:
                self.cancel(self.asked[n])
            elif do in ("open", "acquire", "release", "valid"):
                self.asked[n] = q
                self.jobs.put(q)
        with self.guard:
            self.holds.clear()  # nobody is told any more what is lost
        if self.opened:
            closing = threading.Thread(target=self.lock.close)
            closing.start()
            closing.join(1.5)
        os._exit(0)  # whatever a library still waits for

def serve(kind, about=None):
    """Serves locks of this class. about is a file beside the program with what describe tells."""
    if about:
        with open(os.path.join(sys.path[0], about)) as f:
            for field, value in json.load(f).items():
                setattr(kind, field, value)
    Program(kind()).serve()
