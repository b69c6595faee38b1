-- KEYS: the lock. ARGV: the owner, the TTL in milliseconds.
-- Returns 0 if the lock was granted, else the milliseconds that the holder's
-- lease has left, at least 1, or -1 if it has no end.
if redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return 0
end
local left = redis.call("pttl", KEYS[1])
if left == 0 then
  return 1
end
return left
