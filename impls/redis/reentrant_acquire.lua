-- KEYS: the lock. ARGV: the client, the TTL in milliseconds.
-- Returns 0 if the lock was granted, else the milliseconds that the holder's
-- lease has left, at least 1, or -1 if it has no end.
if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
  redis.call("hincrby", KEYS[1], ARGV[1], 1)
  redis.call("pexpire", KEYS[1], ARGV[2])
  return 0
end
local left = redis.call("pttl", KEYS[1])
if left == 0 then
  return 1
end
return left
