/**
 * Token buckets and concurrency limits in memory, exact for one node. A bucket holds twice its limit per minute and
 * refills evenly. Amounts are whole numbers of 1/60,000 token: `limit` units are added per millisecond, so there are
 * no rounding errors.
 */

/** Requests per minute. */
export const LIMITS = {
  read: 1000,
  passes_write: 500,
  passes_count: 60,
  templates_write: 60,
  webhooks_write: 60,
  account_write: 60,
  cards_write: 200,
  settlements_write: 100,
  unauthenticated: 1000,
} as const

export type Bucket = keyof typeof LIMITS

/**
 * Deliveries per second to all endpoints of a tenant in one environment. The same value is in claim.sql and plan.sql.
 */
export const OUTBOUND_PER_SECOND = 100

/** Maximum number of concurrent requests of one tenant in one environment. */
export const CONCURRENT_REQUESTS = 64

export const TOKEN = 60_000

/** A temporary increase of one limit. `until` is machine time in milliseconds. */
export interface Lift {
  readonly bucket: string
  readonly factor: number
  readonly until: number
}

/** State of a bucket after a request, for its response headers. */
export interface Allowance {
  readonly allowed: boolean
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  /** Seconds since the epoch at which the bucket is full again. */
  readonly reset: number
  readonly retryAfterMs: number
}

interface Level {
  units: number
  at: number
}

/** Usage of a tenant in one environment, or of a client address without a key. */
export interface Meter {
  readonly name: string
  readonly levels: Map<string, Level>
  running: number
}

export interface Grant {
  readonly allowance: Allowance
  /** Releases the slot; call it once. Undefined if no slot was acquired. */
  readonly release: (() => void) | undefined
}

/**
 * Checks requests against limits: synchronously in memory, asynchronously if nodes share limits. Promises never
 * reject.
 */
export interface RequestLimiter {
  /** Returns the meter with that name. It is the same object while it holds any usage. */
  meter(name: string): Meter
  take(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Allowance | Promise<Allowance>
  /** Takes a slot for concurrent requests and a token. If no slot is free, takes no token. */
  acquire(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Grant | Promise<Grant>
}

/** The limiter of one node, in memory. */
export interface Limiter extends RequestLimiter {
  take(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Allowance
  acquire(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Grant
  /** Sets the level of a bucket to a value that Redis reported, in units of 1/60,000 token. */
  setLevel(meter: Meter, bucket: Bucket, units: number): void
}

/** Number of meters above which idle ones are removed. */
const MANY_METERS = 20_000

/** A bucket is always full again after this time. */
export const FULL_AFTER_MS = 120_000

/**
 * @param monotonic milliseconds that never go back: a clock that is set back must not refill buckets.
 * @param machine milliseconds since the epoch, only for `reset`.
 * @param nodes number of live nodes, by which every limit is divided.
 */
export function createLimiter(
  monotonic: () => number = () => performance.now(),
  machine: () => number = Date.now,
  nodes: () => number = () => 1,
): Limiter {
  const meters = new Map<string, Meter>()
  const take: Limiter['take'] = (meter, bucket, lifts) => {
    const wall = machine()
    const limit = share(bucketLimit(bucket, lifts, wall), nodes())
    return takeToken(meter, bucket, limit, Math.floor(monotonic()), wall)
  }
  return {
    meter(name) {
      let meter = meters.get(name)
      if (!meter) {
        if (meters.size >= MANY_METERS) forgetSome(meters, Math.floor(monotonic()))
        meter = { name, levels: new Map(), running: 0 }
        meters.set(name, meter)
      }
      return meter
    },
    take,
    acquire(meter, bucket, lifts) {
      const slots = share(slotLimit(lifts, machine()), nodes())
      if (meter.running >= slots) return { allowance: noSlot(slots, machine()), release: undefined }
      meter.running += 1
      const release = () => {
        meter.running -= 1
      }
      return { allowance: take(meter, bucket, lifts), release }
    },
    setLevel(meter, bucket, units) {
      const level = meter.levels.get(bucket)
      const at = Math.floor(monotonic())
      if (!level) meter.levels.set(bucket, { units, at })
      else {
        level.units = units
        level.at = at
      }
    },
  }
}

/** Returns a node's share of a limit, at least 1. */
function share(limit: number, nodes: number): number {
  return Math.max(1, Math.floor(limit / nodes))
}

/** Returns the requests per minute of a bucket, with its lifts. */
export function bucketLimit(bucket: Bucket, lifts: readonly Lift[] | undefined, now: number): number {
  return liftedLimit(LIMITS[bucket], bucket, lifts, now)
}

/** Returns the number of concurrent requests, with its lifts. */
export function slotLimit(lifts: readonly Lift[] | undefined, now: number): number {
  return liftedLimit(CONCURRENT_REQUESTS, 'concurrent_connections', lifts, now)
}

/** Returns the deliveries per second, with their lifts. */
export function outboundLimit(lifts: readonly Lift[] | undefined, now: number): number {
  return liftedLimit(OUTBOUND_PER_SECOND, 'webhooks_outbound', lifts, now)
}

function liftedLimit(limit: number, name: string, lifts: readonly Lift[] | undefined, now: number): number {
  if (lifts === undefined || lifts.length === 0) return limit
  let lifted = limit
  for (const lift of lifts) {
    if (lift.bucket === name && lift.until > now) lifted *= lift.factor
  }
  return Math.max(1, Math.floor(lifted))
}

function takeToken(meter: Meter, bucket: string, limit: number, now: number, wall: number): Allowance {
  const capacity = 2 * limit * TOKEN
  let level = meter.levels.get(bucket)
  if (!level) {
    level = { units: capacity, at: now }
    meter.levels.set(bucket, level)
  } else if (now > level.at) {
    level.units += (now - level.at) * limit
    level.at = now
  }
  if (level.units > capacity) level.units = capacity
  const allowed = level.units >= TOKEN
  if (allowed) level.units -= TOKEN
  return showLevel(allowed, bucket, limit, level.units, wall)
}

/** Describes a bucket after a token was taken or refused. @param wall milliseconds since the epoch. */
export function showLevel(
  allowed: boolean,
  resource: string,
  limit: number,
  units: number,
  wall: number,
): Allowance {
  return {
    allowed,
    resource,
    limit,
    remaining: Math.min(limit, Math.floor(units / TOKEN)),
    reset: Math.ceil((wall + (2 * limit * TOKEN - units) / limit) / 1000),
    retryAfterMs: allowed ? 0 : Math.ceil((TOKEN - units) / limit),
  }
}

/** Number of the oldest meters that are checked when a meter is added. */
const CHECKED_METERS = 8

/**
 * Removes idle meters among the oldest ones: when its buckets are full, a meter is no different from a new one. If
 * there are more than twice MANY_METERS, also removes recently used meters, which resets their
 * buckets.
 */
function forgetSome(meters: Map<string, Meter>, now: number): void {
  const oldest = meters.entries().take(CHECKED_METERS).toArray()
  for (const [name, meter] of oldest) {
    meters.delete(name)
    const crowded = meters.size >= 2 * MANY_METERS
    if (meter.running > 0 || (!crowded && now - lastUse(meter) <= FULL_AFTER_MS)) meters.set(name, meter)
  }
}

function lastUse(meter: Meter): number {
  let last = 0
  for (const level of meter.levels.values()) last = Math.max(last, level.at)
  return last
}

/** Returns the allowance when all concurrent slots are taken. @param wall milliseconds since the epoch. */
export function noSlot(slots: number, wall: number): Allowance {
  return {
    allowed: false,
    resource: 'concurrent_connections',
    limit: slots,
    remaining: 0,
    reset: Math.ceil(wall / 1000) + 1,
    retryAfterMs: 1000,
  }
}
