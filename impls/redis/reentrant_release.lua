-- KEYS: the lock. ARGV: the client, how many of its acquisitions it keeps, the
-- channel of those who wait.
-- Returns 1, or 0 if the client held no more than those it keeps.
local count, keep = tonumber(redis.call("hget", KEYS[1], ARGV[1]) or 0), tonumber(ARGV[2])
if count <= keep then
  return 0
end
if keep > 0 then
  redis.call("hset", KEYS[1], ARGV[1], keep)
  return 1
end
redis.call("del", KEYS[1])
redis.call("publish", ARGV[3], ARGV[1])
return 1
