-- KEYS: the semaphore. ARGV: the owner, the TTL in milliseconds.
-- Returns 1, or 0 if the owner's lease is over.
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if tonumber(redis.call("zscore", KEYS[1], ARGV[1]) or 0) <= now then
  return 0
end
redis.call("zadd", KEYS[1], now + ARGV[2], ARGV[1])
if redis.call("pttl", KEYS[1]) < tonumber(ARGV[2]) then
  redis.call("pexpire", KEYS[1], ARGV[2])
end
return 1
