-- KEYS: the lock. ARGV: the holder's field, the TTL in milliseconds, the mode
-- (read or write).
-- Returns 0 if the lock was granted, else the milliseconds until the last lease
-- of its holders ends, at least 1.
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local last = 0 -- the end of the last lease
local fields = redis.call("hgetall", KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] ~= "mode" then
    local ends = tonumber(fields[i + 1])
    if ends > now then
      last = math.max(last, ends)
    else
      redis.call("hdel", KEYS[1], fields[i])
    end
  end
end

if last > 0 and (ARGV[3] == "write" or redis.call("hget", KEYS[1], "mode") == "write") then
  return last - now
end
local ends = now + ARGV[2]
redis.call("hset", KEYS[1], "mode", ARGV[3], ARGV[1], ends)
redis.call("pexpire", KEYS[1], math.max(last, ends) - now) -- for tidiness: each lease has its own end
return 0
