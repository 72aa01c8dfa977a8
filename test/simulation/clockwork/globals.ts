/**
 * Replaces the clock, the timers and the randomness of this process by those of a universe. The runtime is loaded
 * unchanged: it reads the same names as in production.
 */
import { AsyncResource } from 'node:async_hooks'
import { createCipheriv, createHash } from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { currentMachine } from './machines.ts'
import type { SimulatedTimer, Timers } from './timers.ts'

const require = createRequire(import.meta.url)
const promises = require('node:timers/promises') as Record<string, unknown>
const crypto = require('node:crypto') as Record<string, unknown>

/** The real ones, for the scheduler, which waits for PostgreSQL. */
export const real = { setTimeout, setImmediate, clearTimeout, now: performance.now.bind(performance) }

/**
 * Signatures of the thread pool are made at once: a thread would end at a moment that no seed decides. The runtime keeps
 * the function when it is loaded, so this is replaced before.
 */
const sign = crypto.sign as (algorithm: unknown, data: unknown, key: unknown) => Buffer
crypto.sign = (
  algorithm: unknown,
  data: unknown,
  key: unknown,
  done?: (error: null, signature: Buffer) => void,
) => {
  const signature = sign(algorithm, data, key)
  if (done) setImmediate(() => done(null, signature))
  return signature
}
syncBuiltinESMExports()

/**
 * The counter of identifiers begins with random bytes when the runtime is loaded. It begins with zero here: the order of
 * identifiers decides which of two attempts that are due at the same time is made first.
 */
const { randomBytes } = crypto
crypto.randomBytes = Buffer.alloc
syncBuiltinESMExports()
require('../../../runtime/platform/ids.ts')
Object.assign(crypto, { randomBytes })
syncBuiltinESMExports()

type Callback = (...values: unknown[]) => void

/** What `setTimeout` and `setInterval` return. */
class TimerHandle {
  readonly #timers: Timers
  readonly #run: () => void
  readonly #ms: number
  #timer: SimulatedTimer
  constructor(timers: Timers, run: () => void, ms: number) {
    this.#timers = timers
    this.#run = AsyncResource.bind(run)
    this.#ms = ms
    this.#timer = timers.add(() => this.#fire(), ms)
  }
  #fire(): void {
    this.#timers.remove(this.#timer)
    this.#run()
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  refresh(): this {
    this.close()
    this.#timer = this.#timers.add(() => this.#fire(), this.#ms)
    return this
  }
  close(): void {
    this.#timers.remove(this.#timer)
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

/** Returns bytes that follow from the seed. */
function createBytes(seed: string): (length: number) => Buffer {
  const stream = createCipheriv('aes-256-ctr', createHash('sha256').update(seed).digest(), Buffer.alloc(16))
  return (length) => stream.update(Buffer.alloc(length))
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** What is taken over, by owner. */
const TAKEN: readonly (readonly [object, readonly string[]])[] = [
  [
    globalThis,
    ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'],
  ],
  [promises, ['setTimeout', 'setImmediate']],
  [crypto, ['randomBytes', 'randomUUID', 'randomFillSync']],
  [globalThis.crypto, ['randomUUID']],
  [Date, ['now']],
  [performance, ['now']],
  [Math, ['random']],
]

function remember(): () => void {
  const known = TAKEN.flatMap(([owner, names]) =>
    names.map((name) => ({ owner, name, value: Reflect.get(owner, name) as unknown })),
  )
  return () => {
    for (const { owner, name, value } of known) Reflect.set(owner, name, value)
    syncBuiltinESMExports()
  }
}

/** Takes over the clock, the timers and the randomness of this process. @returns a function that gives them back. */
export function takeOver(timers: Timers, seed: string): () => void {
  const giveBack = remember()
  const bytes = createBytes(seed)
  const later = (run: Callback, ms = 1, ...values: unknown[]) =>
    new TimerHandle(timers, () => run(...values), ms)
  const repeatedly = (run: Callback, ms = 1, ...values: unknown[]) => {
    const handle: TimerHandle = new TimerHandle(
      timers,
      () => {
        handle.refresh()
        run(...values)
      },
      Math.max(1, ms),
    )
    return handle
  }
  const close = (handle: unknown) => {
    if (handle instanceof TimerHandle) handle.close()
  }
  const immediately = (run: Callback, ...values: unknown[]) => {
    const bound = AsyncResource.bind(() => run(...values))
    return { cancel: timers.addImmediate(bound), ref() {}, unref() {}, hasRef: () => true }
  }
  Object.assign(globalThis, {
    setTimeout: later,
    setInterval: repeatedly,
    setImmediate: immediately,
    clearTimeout: close,
    clearInterval: close,
    clearImmediate: (handle?: { readonly cancel?: () => void }) => handle?.cancel?.(),
  })
  promises.setTimeout = (ms = 1, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const handle = later(() => resolve(value), ms)
      signal?.addEventListener('abort', () => {
        handle.close()
        reject(signal.reason)
      })
    })
  promises.setImmediate = (value?: unknown) => new Promise((resolve) => immediately(() => resolve(value)))
  Date.now = () => Math.floor(timers.now + (currentMachine()?.skewMs ?? 0))
  const start = timers.now
  performance.now = () => timers.now - start + 1000

  const uuid = () => {
    const made = uuidOf(bytes(16))
    currentMachine()?.uuids.add(made)
    return made
  }
  crypto.randomBytes = bytes
  crypto.randomUUID = uuid
  crypto.randomFillSync = (target: NodeJS.ArrayBufferView) => {
    bytes(target.byteLength).copy(new Uint8Array(target.buffer, target.byteOffset, target.byteLength))
    return target
  }
  globalThis.crypto.randomUUID = uuid as typeof globalThis.crypto.randomUUID
  Math.random = () => bytes(4).readUInt32BE() / 2 ** 32
  syncBuiltinESMExports()
  return giveBack
}
