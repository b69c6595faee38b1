-- KEYS: the lock. ARGV: the holder's field, the channel of those who wait.
-- Returns 1, or 0 if the holder's lease is over.
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = tonumber(redis.call("hget", KEYS[1], ARGV[1]) or 0)
redis.call("hdel", KEYS[1], ARGV[1])
if redis.call("hlen", KEYS[1]) <= 1 then -- nothing but the mode
  redis.call("del", KEYS[1])
end
if ends <= now then
  return 0
end
-- Also when other readers stay: who waits counts on the last lease to end, which
-- may have been this one.
redis.call("publish", ARGV[2], ARGV[1])
return 1
