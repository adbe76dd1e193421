-- One sync of one process: it reports what it has done, asks for permits, and is told how many calls may go.
-- Rates are held by GCRA (a theoretical arrival time for each limit), calls in flight by AIMD (half after a 429,
-- one more for each round of answers), and callers share by weighted fair queueing (jobs in a queue, then queues).
-- KEYS: state, calls and leases of its holders, flows of one provider key. ARGV[1]: the request as JSON.
-- Returns {granted, wait in ms, cap, prefetched}.
-- Times are seconds by Redis' own clock, so that machines need not agree.
local state, calls, leases, flows = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local request = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6

local function number_of(name) return tonumber(redis.call('HGET', state, name) or nil) end
local function keep(name, value) redis.call('HSET', state, name, string.format('%.6f', value)) end

-- In flight: each process says how many calls it has (`calls`), and until when that holds (`leases`, by time); one
-- that is silent for too long has none. Their sum is kept among them, so that a visit costs the same however many
-- there are.
local ALL = ''  -- no holder's name
local function calls_of(holder) return tonumber(redis.call('HGET', calls, holder) or nil) or 0 end
local function hold(holder, count, until_s)
  local change = count - calls_of(holder)
  if count > 0 then
    redis.call('HSET', calls, holder, count)
    redis.call('ZADD', leases, until_s, holder)
  else
    redis.call('HDEL', calls, holder)
    redis.call('ZREM', leases, holder)
  end
  if change ~= 0 then redis.call('HINCRBY', calls, ALL, change) end
end
if redis.call('HLEN', calls) ~= redis.call('ZCARD', leases) + redis.call('HEXISTS', calls, ALL) then
  -- Redis has lost one of the two: what is left is counted, as of now.
  local there, sum = redis.call('HGETALL', calls), 0
  redis.call('DEL', leases)
  for i = 1, #there, 2 do
    if there[i] ~= ALL then
      redis.call('ZADD', leases, now + request.lease_s, there[i])
      sum = sum + tonumber(there[i + 1])
    end
  end
  redis.call('HSET', calls, ALL, sum)
end
for _, holder in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', '(' .. string.format('%.3f', now))) do
  hold(holder, 0)
end
local in_flight = request.in_flight + calls_of(ALL) - calls_of(request.holder)

-- Too many requests: half as many at once, at most one cut a second; one more for each round that went well.
local cap = number_of('cap')
-- A call that went in spite of the pause has been answered: what the provider says now is all that counts.
if request.has_asked_anew then redis.call('HDEL', state, 'pause') end
if request.throttled > 0 then
  if now >= (number_of('cut_until') or 0) then
    cap = math.max(1, math.floor(math.min(cap or math.huge, in_flight + request.throttled) / 2))
    keep('cap', cap)
    keep('cut_until', now + 1)
  end
  if request.retry_after_s > 0 then
    keep('pause', math.max(number_of('pause') or 0, now + request.retry_after_s))
  end
elseif cap and request.answered > 0 and in_flight + request.answered >= cap / 2 then
  cap = cap + request.answered / cap
  keep('cap', cap)
end
local most = math.min(cap or math.huge, request.max_in_flight or math.huge)
local available = most - in_flight

-- A pace: `tat` (theoretical arrival time) is when the next unit may go; a second's worth may go at once. No minute
-- holds more than `per_minute` units (one call's tokens more, for those come in lumps), though permits that were
-- prefetched are used up to `ahead_s` later.
local function pace(name, per_minute)
  if not per_minute then return nil end
  local burst = math.max(1, math.floor(per_minute / 60))
  local interval = (60 + request.ahead_s) / (per_minute - burst + 1)
  return { name = name, interval = interval, slack = (burst - 1) * interval + 1e-4, tat = number_of(name) or 0 }
end
local requests, tokens = pace('requests', request.requests_per_minute), pace('tokens', request.tokens_per_minute)
if tokens and request.token_error ~= 0 then
  tokens.tat = math.max(tokens.tat, now) + request.token_error * tokens.interval
end

-- Fair shares: who was served less, by weight, goes first. Jobs of one queue share what their queue gets.
local served, least_served, contenders, queue_siblings = 0, math.huge, 0, 1
for _, line in ipairs(redis.call('HVALS', flows)) do
  local flow = cjson.decode(line)
  if flow.job == request.job then
    served = flow.had
  elseif flow.wants_until < now - 600 then
    redis.call('HDEL', flows, flow.job)
  elseif flow.wants_until >= now then
    contenders = contenders + 1
    least_served = math.min(least_served, flow.had)
    if flow.queue == request.queue then queue_siblings = queue_siblings + 1 end
  end
end
served = math.max(served, number_of('had') or 0) -- who was away has not saved anything up
local charge = queue_siblings / request.weight
local lead = math.max(charge, request.lead * charge)

local granted, wait_s = 0, 0.05
local pause = number_of('pause') or 0
for _, cost in ipairs(request.costs) do
  if pause > now and not request.asks_anew then wait_s = pause - now break end
  if available < 1 then break end
  if requests and requests.tat - requests.slack > now then wait_s = requests.tat - requests.slack - now break end
  if tokens and tokens.tat - 1 > now then wait_s = tokens.tat - 1 - now break end
  if contenders > 0 and served + charge > least_served + lead then wait_s = 0.02 break end
  if requests then requests.tat = math.max(requests.tat, now) + requests.interval end
  if tokens then tokens.tat = math.max(tokens.tat, now) + cost * tokens.interval end
  available, granted, served = available - 1, granted + 1, served + charge
end

-- In advance only where nothing is short: nobody is put off, and half of what may go at once is left.
local ahead = 0
local is_free = granted == #request.costs and contenders == 0 and pause <= now
while is_free and ahead < request.prefetch and available - 1 >= most / 2 do
  if requests and requests.tat - requests.slack / 2 > now then break end
  if tokens and tokens.tat - 0.5 > now then break end
  if requests then requests.tat = math.max(requests.tat, now) + requests.interval end
  if tokens then tokens.tat = math.max(tokens.tat, now) + request.prefetch_cost * tokens.interval end
  available, ahead, served = available - 1, ahead + 1, served + charge
end

if requests then keep(requests.name, requests.tat) end
if tokens then keep(tokens.name, tokens.tat) end
keep('had', contenders > 0 and math.min(served, least_served) or served)
if #request.costs > 0 then
  local wants_until = granted < #request.costs and now + 0.5 or now
  local flow = { job = request.job, queue = request.queue, had = served, wants_until = wants_until }
  redis.call('HSET', flows, request.job, cjson.encode(flow))
end
hold(request.holder, request.in_flight + granted + ahead, string.format('%.3f', now + request.lease_s))
-- For the operator: what became of the calls that asked; a permit that no call took was none.
redis.call('HINCRBY', state, 'granted', granted + ahead - (request.unused or 0))
redis.call('HINCRBY', state, 'put_off', #request.costs - granted)
redis.call('HINCRBY', state, 'throttled', request.throttled)
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, 3600) end
return { granted, math.ceil(wait_s * 1000), math.floor(cap or 0), ahead }
