#!/usr/bin/env node
// A lock in JavaScript to start from: lockbench run --exec ./template.js
"use strict";
const lockbench = require("./lockbench.js"), redis = require("redis");

const deleteIfMine = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

class MyLock extends lockbench.Lock {
  about = {
    name: "my-lock", doc: "SET NX PX and compare-and-delete",
    topologies: ["redis"],     // where it runs
    requests: ["set", "eval"], // what it sends, in this order
    takes: "set",              // whose answer makes it the holder
    scripts: true,
    traits: { leased: true },  // a grant ends by itself, and the holder knows when
    round_trips: { acquire: 1, release: 1 },
  };

  async open(servers, ttlMs) {
    this.ttlMs = ttlMs;
    this.redis = redis.createClient({ url: "redis://" + servers[0] });
    this.redis.on("error", console.error); // else the first one ends the program
    await this.redis.connect();
  }

  async acquire(lock, owner) {
    const call = process.hrtime.bigint(); // before the request: the lease may begin at once
    if (!(await this.redis.set(lock, owner, { NX: true, PX: this.ttlMs }))) throw lockbench.held(); // lockbench asks again
    return { until_ns: this.until(call) };
  }

  async release(lock, owner) {
    if (!(await this.redis.eval(deleteIfMine, { keys: [lock], arguments: [owner] }))) throw lockbench.lost();
  }

  async close() { await this.redis.disconnect(); }
}

lockbench.serve(new MyLock());
