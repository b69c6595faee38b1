-- KEYS: the lock, the queue, the timeouts, as in fair_acquire.lua.
-- ARGV: the owner, the prefix of the channels of those who wait.
-- Gives back the lock or the place in the queue, and tells who is next. Returns
-- 1, or 0 if the owner does not hold the lock.
local held = redis.call("get", KEYS[1]) == ARGV[1]
if held then
  redis.call("del", KEYS[1])
else
  redis.call("lrem", KEYS[2], 0, ARGV[1])
  redis.call("zrem", KEYS[3], ARGV[1])
  if redis.call("exists", KEYS[1]) == 1 then
    return 0
  end
end
local queue = redis.call("lrange", KEYS[2], 0, -1)
if #queue > 0 then
  local time = redis.call("time")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  for _, next in ipairs(queue) do
    if tonumber(redis.call("zscore", KEYS[3], next) or 0) > now then
      redis.call("publish", ARGV[2] .. next, "")
      break
    end
  end
end
return held and 1 or 0
