-- KEYS: the lock, the queue (a list of owners), their timeouts (a sorted set, by
-- milliseconds of the server's clock).
-- ARGV: the owner, the TTL in milliseconds, 1 to wait in the queue or 0 not to.
-- Returns 0 if the lock was granted, else the milliseconds until it is worth
-- asking again, at least 1, or -1 if that is not known.
local owner, ttl = ARGV[1], tonumber(ARGV[2])
local head = redis.call("lindex", KEYS[2], 0)
if not head and redis.call("set", KEYS[1], owner, "NX", "PX", ttl) then
  return 0 -- nobody holds it or waits for it
end
local time = redis.call("time")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Those who died in the queue have not asked again in time.
local due = head and tonumber(redis.call("zscore", KEYS[3], head) or 0)
while head and due <= now do
  redis.call("lpop", KEYS[2])
  redis.call("zrem", KEYS[3], head)
  head = redis.call("lindex", KEYS[2], 0)
  due = head and tonumber(redis.call("zscore", KEYS[3], head) or 0)
end

local left = redis.call("pttl", KEYS[1]) -- -2: there is no such key
if left == -2 and (not head or head == owner) then
  if head then
    redis.call("lpop", KEYS[2])
    redis.call("zrem", KEYS[3], owner)
  end
  redis.call("set", KEYS[1], owner, "PX", ttl)
  return 0
end

if ARGV[3] == "1" then
  if not redis.call("zscore", KEYS[3], owner) then
    redis.call("rpush", KEYS[2], owner)
  end
  redis.call("zadd", KEYS[3], now + ttl, owner)
  -- If the server loses track of time, the queue must not outlive its members.
  redis.call("pexpire", KEYS[2], 2 * ttl)
  redis.call("pexpire", KEYS[3], 2 * ttl)
end
if left == -2 then -- free, but it is the head's turn
  left = due - now
end
if left == 0 then
  return 1
end
return left
