-- KEYS: the lock, its counter. ARGV: the owner, the TTL in milliseconds.
-- Returns the fencing token of the grant, or 0 if the lock is taken.
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("incr", KEYS[2])
end
return 0
