-- KEYS: the semaphore. ARGV: the owner, the channel of those who wait.
-- Returns 1, or 0 if the owner's lease is over.
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = tonumber(redis.call("zscore", KEYS[1], ARGV[1]) or 0)
redis.call("zrem", KEYS[1], ARGV[1])
if ends <= now then
  return 0
end
redis.call("publish", ARGV[2], ARGV[1])
return 1
