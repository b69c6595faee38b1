#!/usr/bin/env node
// The lock that users of node-redis 4 write, since it has none of its own: SET with NX and PX, and
// a script that compares before it deletes, over a client as it comes. That has no timeout for
// commands: one that finds no connection waits in a queue for the next, however long that takes.
"use strict";
const lockbench = require("./lockbench.js"), redis = require("redis");

const deleteIfMine = `
  if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("DEL", KEYS[1])
  end
  return 0`;

class NodeRedis extends lockbench.Lock {
  about = lockbench.about("node_redis.json");
  versions = { "@redis/client": require("@redis/client/package.json").version };

  async open(servers, ttlMs) {
    this.ttlMs = ttlMs;
    this.client = redis.createClient({ url: "redis://" + servers[0] });
    this.client.on("error", (err) => console.error("Redis Client Error", err.message));
    await this.client.connect();
  }

  async acquire(lock, owner) {
    const call = process.hrtime.bigint();
    if ((await this.client.set(lock, owner, { NX: true, PX: this.ttlMs })) !== "OK") throw lockbench.held();
    return { until_ns: this.until(call) };
  }

  async release(lock, owner) {
    if (!(await this.client.eval(deleteIfMine, { keys: [lock], arguments: [owner] }))) throw lockbench.lost();
  }

  async close() { await this.client.disconnect(); }
}

lockbench.serve(new NodeRedis());
