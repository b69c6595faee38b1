-- KEYS: the lock. ARGV: the owner, the channel of those who wait.
-- Returns 1, or 0 if the owner does not hold the lock.
if redis.call("get", KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call("del", KEYS[1])
redis.call("publish", ARGV[2], ARGV[1])
return 1
