#!/usr/bin/python3
"""A lock on one Redis that does one thing wrong, which its argument names; without one it does
all right. SET NX PX, and a DEL that looks at no owner."""
import json, socket, subprocess, sys, time

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""


def say(n, **message):
    print(json.dumps({"n": n, **message}), flush=True)


def redis(*words):
    words = [w.encode() for w in words]
    wire.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    return wire.recv(1000)


def questions():
    for line in sys.stdin:
        yield json.loads(line)


if WRONG == "never-reads":
    time.sleep(3600)
acquired, left, kept = 0, None, []
for q in questions():
    n, do = q["n"], q["do"]
    if do == "describe":
        say(n, say="ok", protocol=1, name="broken", topologies=["redis"], requests=["set", "del"], takes="set",
            traits={"leased": True})
    elif do == "open":
        host, port = q["servers"][0].rsplit(":", 1)
        wire, ttl = socket.create_connection((host, int(port))), q["ttl_ns"]
        if WRONG == "leaves-a-helper":
            subprocess.Popen(["sleep", "3600"], start_new_session=True)
        say(n, say="ok")
    elif do == "acquire":
        acquired += 1
        if WRONG == "leaks":
            kept.append(open("/dev/null"))
        call = time.monotonic_ns()
        if acquired == 5 or WRONG in ("hangs", "answers-after-cancel") and acquired > 1:
            match WRONG:
                case "hangs" | "answers-after-cancel":
                    left = n  # and no answer
                    continue
                case "wrong-number":
                    say(n + 1000, say="held")
                    continue
                case "two-answers":
                    say(n, say="held")
                    say(n, say="held")
                    continue
                case "garbage":
                    print("Traceback: something of a library's", flush=True)
                case "exits":
                    sys.exit("broken.py: this is its last word")
                case "dies":
                    import os
                    os.kill(os.getpid(), 9)
                case "endless-line":
                    while True:
                        sys.stdout.write("x" * 4096)
                case "endless-lines":
                    while True:
                        say(1, say="renewed", owner=q["owner"], call_ns=call, until_ns=call + 10**9)
                case "wrong-word":
                    say(n, say="released")
                    continue
                case "wall-clock":
                    say(n, say="ok", until_ns=time.time_ns() + ttl)
                    continue
                case "a-text":
                    say(n, say="ok", until_ns="soon")
                    continue
                case "stops-reading":
                    for i in range(9000):
                        say(i + 1, say="step", owner=q["owner"], name="before-nothing")
                    time.sleep(3600)
                case "closes-stdout":
                    import os
                    os.close(1)
                    time.sleep(3600)
                case "grants-unasked":
                    say(n, say="held")
                    say(n + 1, say="ok", until_ns=call + ttl)
                    continue
                case "somebody-elses":
                    say(1, say="lost", owner="nobody")
        if redis("SET", q["lock"], q["owner"], "NX", "PX", str(ttl // 10**6)).startswith(b"+"):
            say(n, say="ok", until_ns=call + ttl * 99 // 100)
        else:
            say(n, say="held")
    elif do == "release":
        said = "ok" if redis("DEL", q["lock"]) == b":1\r\n" else "lost"
        say(n, say=said, **({"owner": q["owner"]} if WRONG == "repeats-the-owner" else {}))
    elif do == "cancel" and WRONG == "answers-after-cancel" and n == left:
        say(n, say="unknown")
        say(n, say="ok")
    elif do == "cancel" and WRONG != "hangs" and n == left:
        say(n, say="unknown")
    elif do == "clock":
        say(n, say="ok", wall_ns=time.time_ns(), mono_ns=time.monotonic_ns())
    elif do == "close":
        break
