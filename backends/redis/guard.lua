-- KEYS: records. ARGV: for each its token, its first value, and its new one or ''.
for i, key in ipairs(KEYS) do
  local seen = tonumber(redis.call('HGET', key, 'token') or '0')
  if tonumber(ARGV[3*i-2]) < seen then return false end
end
local before = {}
for i, key in ipairs(KEYS) do
  redis.call('HSETNX', key, 'value', ARGV[3*i-1])
  before[i] = redis.call('HGET', key, 'value')
  redis.call('HSET', key, 'token', ARGV[3*i-2])
  if ARGV[3*i] ~= '' then redis.call('HSET', key, 'value', ARGV[3*i]) end
end
return before
