/**
 * Token buckets and concurrency, in memory: exact on one node. A bucket holds twice its limit per minute and refills
 * evenly. Amounts are whole numbers of 1/60,000 token, so that `limit` units flow in per millisecond and no
 * rounding is ever lost or gained.
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

/** Deliveries to all endpoints of one tenant in one environment that may begin in a second; as in claim.sql and plan.sql. */
export const OUTBOUND_PER_SECOND = 100

/** Requests of one tenant in one environment that may run at once. */
export const CONCURRENT_REQUESTS = 64

export const TOKEN = 60_000

/** A temporary lift of one bucket; `until` is machine time in milliseconds. */
export interface Lift {
  readonly bucket: string
  readonly factor: number
  readonly until: number
}

/** What a request learned of its bucket, for its headers. */
export interface Allowance {
  readonly allowed: boolean
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  /** Seconds since the epoch at which the bucket is full again. */
  readonly reset: number
  /** 0 when allowed. */
  readonly retryAfterMs: number
}

interface Level {
  units: number
  at: number
}

/** What one tenant uses in one environment, or one address without a key. */
export interface Meter {
  readonly name: string
  readonly levels: Map<string, Level>
  running: number
}

/** What a request that wants to run was given. */
export interface Grant {
  readonly allowance: Allowance
  /** Gives the slot back, once; undefined when none was had. */
  readonly release: (() => void) | undefined
}

/** Checks requests: at once in memory, after a round trip where the nodes share. Promises never reject. */
export interface RequestLimiter {
  /** The one meter of that name: the same object for as long as it matters. */
  meter(name: string): Meter
  /** Takes a token. */
  take(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Allowance | Promise<Allowance>
  /** Takes one of the slots for requests at the same time, and a token. Without a slot no token is spent. */
  acquire(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Grant | Promise<Grant>
}

/** The limiter of one node, in its memory. */
export interface Limiter extends RequestLimiter {
  take(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Allowance
  acquire(meter: Meter, bucket: Bucket, lifts?: readonly Lift[]): Grant
  /** Learns how full a bucket is from who knows better; in units of 1/60,000 token. */
  learn(meter: Meter, bucket: Bucket, units: number): void
}

/** From here on meters that say nothing are forgotten. */
const MANY_METERS = 20_000

/** A bucket is full again after this long, whatever was taken. */
export const FULL_AFTER_MS = 120_000

/**
 * @param monotonic milliseconds that never run backwards: a clock that is set back must not refill anything.
 * @param machine milliseconds since the epoch, only to write `reset`.
 * @param nodes among how many nodes everything is divided at the moment.
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
    learn(meter, bucket, units) {
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

/** What one of several nodes has of a limit; never nothing. */
function share(limit: number, nodes: number): number {
  return Math.max(1, Math.floor(limit / nodes))
}

/** Requests per minute of a bucket, lifted where it is. */
export function bucketLimit(bucket: Bucket, lifts: readonly Lift[] | undefined, now: number): number {
  return liftedLimit(LIMITS[bucket], bucket, lifts, now)
}

/** Requests at once, lifted where they are. */
export function slotLimit(lifts: readonly Lift[] | undefined, now: number): number {
  return liftedLimit(CONCURRENT_REQUESTS, 'concurrent_connections', lifts, now)
}

/** Deliveries a second, lifted where they are. */
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

/** What a bucket tells after a token was taken, or was not to be had. @param wall milliseconds since the epoch. */
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

/** How many of the longest known meters are looked at when a new one comes. */
const LOOKED_AT = 8

/**
 * Looks at a few of the longest known: a meter that has idled until it is full says nothing that a new one would not.
 * With twice as many as many, one address more costs another its memory.
 */
function forgetSome(meters: Map<string, Meter>, now: number): void {
  const oldest = meters.entries().take(LOOKED_AT).toArray()
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

/** The allowance shown where all concurrent slots are taken. @param wall milliseconds since the epoch. */
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
