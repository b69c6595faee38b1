// The protocol of lockbench (docs/protocol.md), for locks in JavaScript. Copy this file beside
// yours, derive a class from Lock, and end with serve(new YourLock()).
"use strict";
const fs = require("fs"), path = require("path"), readline = require("readline");

// An answer that is not "ok". Whatever else is thrown means that the outcome is unknown.
class Answer extends Error {
  constructor(say, why = "") { super(why); this.say = say; }
}
const held = () => new Answer("held");          // somebody else has it, and nothing was taken
const lost = (why) => new Answer("lost", why);  // it did not hold the lock any more
const released = (why) => new Answer("released", why); // whether it held the lock until now nobody knows
const noEffect = (why) => new Answer("no-effect", why);
const unsupported = () => new Answer("unsupported");

// One client. about is what describe tells. Times are BigInts of process.hrtime.bigint().
class Lock {
  about = {};
  versions = {};
  trying = false; // what acquire is asked for
  shared = false;
  async open(servers, ttlMs) {}
  async acquire(lock, owner) { throw unsupported(); } // returns {until_ns, token}, either or none
  async release(lock, owner) { throw lost(); }
  cancel() {} // ends what goes on, if it can
  async close() {}
  // The clocks of client and server may differ by 1% and 2 ms.
  until(callNs) { return callNs + (this.ttlNs * 99n) / 100n - 2_000_000n; }
  lost(owner, why) { this.notice(owner, { say: "lost", why }); }
  renewed(owner, call_ns, until_ns) { this.notice(owner, { say: "renewed", call_ns, until_ns }); }
}

// What describe tells, from a file beside the program.
const about = (file) => JSON.parse(fs.readFileSync(path.join(path.dirname(process.argv[1]), file)));

function serve(lock) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr); // what a library prints goes to the log
  const asked = new Map(), holds = new Set(), unsure = new Set(); // unanswered questions; owners
  let running = null, early = [], notices = 0, opened = false, last = Promise.resolve();

  // Times have more digits than JavaScript's numbers.
  const say = (n, message) => write(JSON.stringify({ n, ...message },
    (_, v) => (typeof v === "bigint" ? `${v}n` : v)).replace(/:"(\d+)n"/g, ":$1") + "\n");

  lock.notice = (owner, message) => {
    if (holds.has(owner)) say(++notices, { ...message, owner });
    else if (running && running.do === "acquire" && running.owner === owner) early.push(message); // until its grant is told
  };

  // Answers a question, unless it was cancelled and is answered.
  function answer(q, message) {
    if (!asked.delete(q.n)) return false;
    say(q.n, message);
    if (q.do === "acquire" && message.say === "ok") {
      holds.add(q.owner);
      early.forEach((m) => lock.notice(q.owner, m));
    }
    return true;
  }

  async function run(q) {
    if (q.do === "acquire" && !asked.has(q.n)) return; // cancelled before it began
    let message;
    [running, early] = [q, []];
    try {
      message = { say: "ok", ...(await call(q)) };
    } catch (e) {
      message = e instanceof Answer ? { say: e.say, why: e.message } : { say: "unknown", why: String(e).slice(0, 1000) };
    }
    if (message.say === "lost" && unsure.has(q.owner)) message.say = "released"; // an earlier release may have given it back
    const told = answer(q, message);
    if (q.do === "release" && (!told || message.say === "unknown")) unsure.add(q.owner);
    running = null;
  }

  async function call(q) {
    if (q.do === "open") {
      lock.ttlNs = BigInt(q.ttl_ns);
      await lock.open(q.servers, q.ttl_ns / 1e6);
      opened = true;
    } else if (q.do === "release") {
      holds.delete(q.owner);
      await lock.release(q.lock, q.owner);
    } else {
      [lock.trying, lock.shared] = [!!q.try, !!q.shared];
      if (lock.trying && lock.about.no_try || lock.shared && !(lock.about.traits || {}).shared) throw unsupported();
      return lock.acquire(q.lock, q.owner);
    }
  }

  function end() {
    holds.clear(); // nobody is told any more what is lost
    setTimeout(() => process.exit(0), 1500); // whatever a library still waits for
    Promise.resolve(opened && lock.close()).catch(console.error).then(() => process.exit(0));
  }

  const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });
  lines.on("close", end);
  lines.on("line", (line) => {
    const q = JSON.parse(line);
    if (q.do === "close") lines.close();
    else if (q.do === "describe") say(q.n, { say: "ok", protocol: 1, ...lock.about, versions: { node: process.versions.node, ...lock.versions } });
    else if (q.do === "clock") say(q.n, { say: "ok", wall_ns: BigInt(Date.now()) * 1_000_000n, mono_ns: process.hrtime.bigint() });
    else if (q.do === "cancel" && asked.has(q.n)) {
      const waits = asked.get(q.n);
      setTimeout(() => answer(waits, { say: "unknown", why: "cancelled, and it still goes on" }), 1000);
      if (running === waits) lock.cancel();
    } else if (["open", "acquire", "release"].includes(q.do)) {
      asked.set(q.n, q);
      last = last.then(() => run(q)); // one after the other
    }
  });
}

module.exports = { Lock, about, serve, held, lost, released, noEffect, unsupported };
