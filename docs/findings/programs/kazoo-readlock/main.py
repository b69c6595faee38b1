"""A reader and a writer behind a writer: when that one is done, the two wait for each other."""
import sys, threading, time
import kazoo
from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

print("kazoo", kazoo.__version__)
clients = [KazooClient((sys.argv[1:] or ["localhost:2181"])[0]) for _ in range(3)]
for c in clients:
    c.start()
if clients[0].exists("/readlock"):
    clients[0].delete("/readlock", recursive=True)
first, reader, second = (clients[0].WriteLock("/readlock", "first"), clients[1].ReadLock("/readlock", "reader"),
                         clients[2].WriteLock("/readlock", "second"))
start, gave_up, got = time.time(), 0, 0  # when the reader gave up, and when the second writer got it

def say(*words):
    print("%5.2f s:" % (time.time() - start), *words, flush=True)

def read():
    global gave_up
    try:
        reader.acquire(timeout=8)
        say("the reader has the lock")
        reader.release()
    except LockTimeout as e:
        gave_up = time.time()
        say("the reader gave up:", e)

def write():
    global got
    second.acquire()
    got = time.time()
    say("the second writer has the lock")
    second.release()

first.acquire()
say("the first writer has the lock")
threads = [threading.Thread(target=f) for f in (read, write)]
for t in threads:
    t.start()
    time.sleep(1)  # the reader stands before the second writer
first.release()
say("the first writer has given it back; in line are", clients[0].get_children("/readlock"))
for t in threads:
    t.join()
print("promised: a read lock blocks while a writer has the lock")
for c in clients:
    c.stop()
sys.exit(0 if 0 < gave_up < got else 1)
