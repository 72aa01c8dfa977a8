import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * A point in what a service sends to its database. Statements of a transaction are counted from BEGIN, which is the first;
 * single statements are each the first of their own.
 */
export interface Point {
  readonly kind: 'transaction' | 'single'
  readonly statement: number
  /** Before: the database never sees the statement. After: it has done it, and the service never hears. */
  readonly side: 'before' | 'after'
}

/** Of so many statements of a transaction one is killed at; with EVERY_STATEMENT=1 it is every one (`npm run prove:crash`). */
export const STEP = process.env.EVERY_STATEMENT === undefined ? 6 : 1

/**
 * Before the first statement of a transaction, and after each `step`-th, from another one on each time, without an end. To the
 * database the moment after a statement is that before the next.
 */
export function* transactionPoints(step = STEP): Generator<Point> {
  yield { kind: 'transaction', statement: 1, side: 'before' }
  const first = randomInt(step) + 1
  console.log(`killed at statement ${first}, and at every ${step}. after it`)
  for (let statement = first; ; statement += step) yield { kind: 'transaction', statement, side: 'after' }
}

/** A way to the database on which the connections of one role stop at a point. */
export interface Wire {
  /** Of the database, along the wire. */
  readonly url: string
  /** From now on a connection that reaches the point goes no further. */
  stopAt(point: Point): void
  /** Of each connection that has reached it, all that the service has sent of that transaction, or of that single statement. */
  stopped(): readonly string[]
  /** Cuts all connections. */
  end(): void
}

const STARTUP = 196_608

/** A message of the protocol (PostgreSQL 18, 54.7): its type where it has one, and its bytes. */
interface Message {
  readonly type: string
  readonly bytes: Buffer
}

/** Cuts a stream into messages. The first ones of a client have no type. */
function createCutter(typed: () => boolean): (chunk: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const messages: Message[] = []
    for (;;) {
      const head = typed() ? 1 : 0
      if (rest.length < head + 4) return messages
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return messages
      const bytes = rest.subarray(0, length)
      messages.push({ type: head === 0 ? 'startup' : String.fromCharCode(bytes[0]!), bytes })
      rest = rest.subarray(length)
      if (head === 0) return messages
    }
  }
}

/**
 * Opens a local port that leads to the database of the URL.
 *
 * @param roles whose connections may be stopped, and in what.
 */
export async function openWire(
  databaseUrl: string,
  roles: Readonly<Record<string, readonly Point['kind'][]>>,
): Promise<Wire> {
  const target = new URL(databaseUrl)
  const { hostname, port } = target
  const sockets = new Set<Socket>()
  let point: Point | undefined
  const stopped: (readonly Buffer[])[] = []
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay()
      socket.on('error', () => {}) // the other end learns of it by `close`
    }
    watch(near, far, roles, {
      point: () => point,
      stop: (sent) => {
        stopped.push(sent)
      },
    })
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the wire has no port')
  target.hostname = '127.0.0.1'
  target.port = String(address.port)
  return {
    url: target.href,
    stopAt: (at) => {
      point = at
    },
    stopped: () => stopped.map((sent) => Buffer.concat(sent).toString('latin1')),
    end: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

interface Orders {
  point(): Point | undefined
  /** A connection has reached the point. @param sent grows as the service sends on. */
  stop(sent: readonly Buffer[]): void
}

/** Where a connection stands. */
interface Progress {
  started: boolean
  /** What may be stopped. */
  kinds: readonly Point['kind'][]
  /** The server has let it in. */
  open: boolean
  kind: Point['kind']
  /** What the service has sent of the transaction, or of the single statement. */
  text: Buffer[]
  /** Sent and answered statements of the transaction, or of single ones. */
  sent: number
  answered: number
  /** The next message begins a statement. */
  fresh: boolean
  /** Nothing more goes to the database. */
  silent: boolean
  /** Nothing more goes either way. */
  halted: boolean
}

/** Passes messages on, both ways, until the point is reached. */
function watch(
  near: Socket,
  far: Socket,
  roles: Readonly<Record<string, readonly Point['kind'][]>>,
  orders: Orders,
): void {
  const progress: Progress = {
    started: false,
    kinds: [],
    open: false,
    kind: 'single',
    text: [],
    sent: 0,
    answered: 0,
    fresh: true,
    silent: false,
    halted: false,
  }
  const halt = () => {
    progress.halted = true
    orders.stop(progress.text)
  }
  const isAt = (side: Point['side'], statement: number) => {
    const point = orders.point()
    return (
      point?.side === side &&
      progress.kinds.includes(point.kind) &&
      point.kind === progress.kind &&
      point.statement === statement
    )
  }
  const cutRequests = createCutter(() => progress.started)
  const takeRequest = ({ type, bytes }: Message) => {
    if (progress.halted || progress.silent) {
      progress.text.push(bytes)
      return
    }
    if (progress.open && progress.kinds.length > 0) {
      if (progress.fresh) begin(progress, bytes)
      progress.text.push(bytes)
      // What comes after the point waits for its answer for ever.
      if (isAt('after', progress.sent - 1)) progress.silent = true
      if (isAt('before', progress.sent)) halt()
      if (progress.silent || progress.halted) return
      progress.fresh = type === 'Q' || type === 'S'
    }
    if (type === 'startup' && bytes.readInt32BE(4) === STARTUP) {
      progress.started = true
      const role = Object.keys(roles).find((name) => bytes.includes(`user\0${name}\0`))
      // On the connection that waits for the disk everybody would stop at once, after a COMMIT that has been a point already.
      progress.kinds = bytes.includes(' flush\0') ? [] : (roles[role ?? ''] ?? [])
    }
    far.write(bytes)
  }
  near.on('data', (chunk) => {
    for (const message of cutRequests(chunk)) takeRequest(message)
    // The cutter stops after a message without a type: what came with it is typed.
    for (const message of cutRequests(Buffer.alloc(0))) takeRequest(message)
  })
  const cutAnswers = createCutter(() => true)
  far.on('data', (chunk) => {
    for (const { type, bytes } of cutAnswers(chunk)) {
      if (progress.halted) return
      if (type === 'Z' && progress.open && progress.kinds.length > 0) {
        progress.answered += 1
        if (isAt('after', progress.answered)) {
          halt()
          return
        }
      }
      if (type === 'Z') progress.open = true
      near.write(bytes)
    }
  })
}

function begin(progress: Progress, bytes: Buffer): void {
  const opens = bytes.includes('BEGIN')
  if (opens || progress.kind === 'single') {
    progress.kind = opens ? 'transaction' : 'single'
    progress.text = []
    progress.sent = 0
    progress.answered = 0
  }
  progress.sent += 1
  if (bytes.includes('COMMIT') || bytes.includes('ROLLBACK')) progress.fresh = true
}
