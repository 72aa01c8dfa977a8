import { createHash } from 'node:crypto'
import { FULL_AFTER_MS, TOKEN } from './limiter.ts'

/** A Lua script with its SHA-1 digest, by which Redis runs it. */
export interface Script {
  readonly text: string
  readonly digest: string
}

function script(text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/** The clock of Redis is the only clock that all nodes share. */
const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`

/** If the clock went back by more than this, it was corrected; smaller steps are jitter. */
const CORRECTED_MS = 5000

/**
 * Takes a slot, if requested, and a token: both or neither. Uses the same arithmetic as in memory, in whole units of
 * 1/60,000 token. If the clock goes back, nothing is refilled.
 *
 * KEYS: bucket, and slots if requested. ARGV: tokens per minute, number of slots, lease, milliseconds of the lease.
 * Returns {0 refused | 1 allowed | 2 no slot, units left, now in milliseconds}.
 */
export const ACQUIRE = script(`${NOW}
if KEYS[2] then
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
  if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[2]) then return {2, 0, now} end
end
local limit = tonumber(ARGV[1])
local capacity = 2 * limit * ${TOKEN}
local level = redis.call('HMGET', KEYS[1], 'units', 'at')
local units, at = tonumber(level[1]), tonumber(level[2])
if not units then
  units, at = capacity, now
elseif now > at then
  units, at = units + (now - at) * limit, now
elseif at - now > ${CORRECTED_MS} then
  at = now
end
if units > capacity then units = capacity end
local allowed = 0
if units >= ${TOKEN} then
  allowed, units = 1, units - ${TOKEN}
end
redis.call('HSET', KEYS[1], 'units', string.format('%.0f', units), 'at', string.format('%.0f', at))
redis.call('PEXPIRE', KEYS[1], ${FULL_AFTER_MS})
if allowed == 1 and KEYS[2] then
  redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
end
return {allowed, units, now}`)

/** Renews the leases of requests in progress. KEYS: slots. ARGV: milliseconds of the lease, leases. */
export const RENEW = script(`${NOW}
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[index]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return #ARGV - 1`)

/** Releases slots. KEYS: slots. ARGV: leases. */
export const RELEASE = script(`return redis.call('ZREM', KEYS[1], unpack(ARGV))`)

/**
 * Heartbeat of a node. KEYS: nodes. ARGV: node, milliseconds that it counts as live. Returns the number of live
 * nodes.
 */
export const BEAT = script(`${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])`)

/** Removes a node that stops. KEYS: nodes. ARGV: node. */
export const DEPART = RELEASE
