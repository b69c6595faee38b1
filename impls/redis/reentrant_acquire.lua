-- KEYS: the lock. ARGV: the client, the TTL in milliseconds.
-- Returns -2 if the lock was free and is granted, 0 if the client had it and has it
-- once more, else the milliseconds that the holder's lease has left, at least 1, or
-- -1 if it has no end.
if redis.call("exists", KEYS[1]) == 0 or redis.call("hexists", KEYS[1], ARGV[1]) == 1 then
  local count = redis.call("hincrby", KEYS[1], ARGV[1], 1)
  redis.call("pexpire", KEYS[1], ARGV[2])
  if count == 1 then
    return -2
  end
  return 0
end
local left = redis.call("pttl", KEYS[1])
if left == 0 then
  return 1
end
return left
