-- One visit of one process: it reports what it has done, asks for leave, and is told how many calls may go.
-- KEYS: state, holders, flows of one provider key. ARGV[1]: the visit as JSON.
-- Returns {granted, wait in ms, cap, granted in advance}.
-- Times are seconds by Redis' own clock, so that machines need not agree.
local state, holders, flows = KEYS[1], KEYS[2], KEYS[3]
local visit = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1e6

local function number_of(name) return tonumber(redis.call('HGET', state, name) or nil) end
local function keep(name, value) redis.call('HSET', state, name, string.format('%.6f', value)) end

-- In flight: each process says how many calls it has; one that is silent for too long has none.
local in_flight = visit.in_flight
local there = redis.call('HGETALL', holders)
for i = 1, #there, 2 do
  local count, until_s = there[i + 1]:match('^(%S+) (%S+)$')
  if tonumber(until_s) < now then
    redis.call('HDEL', holders, there[i])
  elseif there[i] ~= visit.holder then
    in_flight = in_flight + tonumber(count)
  end
end

-- Too many requests: half as many at once, at most one cut a second; one more for each round that went well.
local cap = number_of('cap')
-- A call that went in spite of the pause has been answered: what the provider says now is all that counts.
if visit.has_asked_anew then redis.call('HDEL', state, 'pause') end
if visit.throttled > 0 then
  if now >= (number_of('cut_until') or 0) then
    cap = math.max(1, math.floor(math.min(cap or math.huge, in_flight + visit.throttled) / 2))
    keep('cap', cap)
    keep('cut_until', now + 1)
  end
  if visit.retry_after_s > 0 then
    keep('pause', math.max(number_of('pause') or 0, now + visit.retry_after_s))
  end
elseif cap and visit.answered > 0 and in_flight + visit.answered >= cap / 2 then
  cap = cap + visit.answered / cap
  keep('cap', cap)
end
local most = math.min(cap or math.huge, visit.max_in_flight or math.huge)
local room = most - in_flight

-- A pace: `due` is when the next unit may go; a second's worth may go at once. No minute holds more than
-- `per_minute` units (one call's tokens more, for those come in lumps), though leave that was given in advance
-- is used up to `ahead_s` later.
local function pace(name, per_minute)
  if not per_minute then return nil end
  local burst = math.max(1, math.floor(per_minute / 60))
  local gap = (60 + visit.ahead_s) / (per_minute - burst + 1)
  return { name = name, gap = gap, slack = (burst - 1) * gap + 1e-4, due = number_of(name) or 0 }
end
local requests, tokens = pace('requests', visit.requests_per_minute), pace('tokens', visit.tokens_per_minute)
if tokens and visit.token_error ~= 0 then
  tokens.due = math.max(tokens.due, now) + visit.token_error * tokens.gap
end

-- Fair shares: who has had less, by weight, goes first. Jobs of one queue share what their queue gets.
local had, least, rivals, beside = 0, math.huge, 0, 1
for _, line in ipairs(redis.call('HVALS', flows)) do
  local flow = cjson.decode(line)
  if flow.job == visit.job then
    had = flow.had
  elseif flow.wants_until < now - 600 then
    redis.call('HDEL', flows, flow.job)
  elseif flow.wants_until >= now then
    rivals = rivals + 1
    least = math.min(least, flow.had)
    if flow.queue == visit.queue then beside = beside + 1 end
  end
end
had = math.max(had, number_of('had') or 0) -- who was away has not saved anything up
local charge = beside / visit.weight
local lead = math.max(charge, visit.lead * charge)

local granted, wait_s = 0, 0.05
local pause = number_of('pause') or 0
for _, cost in ipairs(visit.costs) do
  if pause > now and not visit.asks_anew then wait_s = pause - now break end
  if room < 1 then break end
  if requests and requests.due - requests.slack > now then wait_s = requests.due - requests.slack - now break end
  if tokens and tokens.due - 1 > now then wait_s = tokens.due - 1 - now break end
  if rivals > 0 and had + charge > least + lead then wait_s = 0.02 break end
  if requests then requests.due = math.max(requests.due, now) + requests.gap end
  if tokens then tokens.due = math.max(tokens.due, now) + cost * tokens.gap end
  room, granted, had = room - 1, granted + 1, had + charge
end

-- In advance only where nothing is short: nobody is put off, and half of what may go at once is left.
local ahead = 0
local is_free = granted == #visit.costs and rivals == 0 and pause <= now
while is_free and ahead < visit.prefetch and room - 1 >= most / 2 do
  if requests and requests.due - requests.slack / 2 > now then break end
  if tokens and tokens.due - 0.5 > now then break end
  if requests then requests.due = math.max(requests.due, now) + requests.gap end
  if tokens then tokens.due = math.max(tokens.due, now) + visit.prefetch_cost * tokens.gap end
  room, ahead, had = room - 1, ahead + 1, had + charge
end

if requests then keep(requests.name, requests.due) end
if tokens then keep(tokens.name, tokens.due) end
keep('had', rivals > 0 and math.min(had, least) or had)
if #visit.costs > 0 then
  local wants_until = granted < #visit.costs and now + 0.5 or now
  local flow = { job = visit.job, queue = visit.queue, had = had, wants_until = wants_until }
  redis.call('HSET', flows, visit.job, cjson.encode(flow))
end
local held = visit.in_flight + granted + ahead
if held > 0 then
  redis.call('HSET', holders, visit.holder, string.format('%d %.3f', held, now + visit.lease_s))
else
  redis.call('HDEL', holders, visit.holder)
end
-- For the operator: what became of the calls that asked.
redis.call('HINCRBY', state, 'granted', granted + ahead)
redis.call('HINCRBY', state, 'put_off', #visit.costs - granted)
redis.call('HINCRBY', state, 'throttled', visit.throttled)
for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, 3600) end
return { granted, math.ceil(wait_s * 1000), math.floor(cap or 0), ahead }
