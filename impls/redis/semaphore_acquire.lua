-- KEYS: the semaphore. ARGV: the owner, the TTL in milliseconds, how many permits
-- there are.
-- Returns 0 if one was granted, else the milliseconds until the first lease of its
-- holders ends, at least 1.
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call("zcount", KEYS[1], "(" .. now, "+inf") >= tonumber(ARGV[3]) then
  local first = redis.call("zrangebyscore", KEYS[1], "(" .. now, "+inf", "withscores", "limit", 0, 1)
  return tonumber(first[2]) - now
end
-- This is the first that writes: a server without memory refuses that of a script, and
-- no later one. Else it would grant what it does not let its holder renew.
redis.call("zadd", KEYS[1], now + ARGV[2], ARGV[1])
redis.call("zremrangebyscore", KEYS[1], "-inf", now)
if redis.call("pttl", KEYS[1]) < tonumber(ARGV[2]) then -- for tidiness: each lease has its own end
  redis.call("pexpire", KEYS[1], ARGV[2])
end
return 0
