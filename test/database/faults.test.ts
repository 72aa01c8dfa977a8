import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseUnavailable } from '../../runtime/database/errors.ts'
import { openDatabase } from '../../runtime/database/open/open-database.ts'
import { createListener } from '../../runtime/database/pool/listen.ts'
import { createPool, type Pool } from '../../runtime/database/pool/pool.ts'
import { bumpRevision, watchRevision } from '../../runtime/database/revision.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'
import { type Gate, openGate } from '../support/gate.ts'
import { until } from '../support/programs.ts'
import { trustsEverybody } from '../support/server.ts'

let db: TestDatabase
let gate: Gate
let pool: Pool

beforeAll(async () => {
  db = await openTestDatabase()
})

afterAll(() => db.close())

async function openThroughGate(max: number): Promise<void> {
  gate = await openGate(db.url)
  const connection = () => ({ connectionString: gate.url })
  pool = createPool({ connection, max, prepared: true, applicationName: 'through the gate' })
}

const ONE = { name: 'one', text: 'SELECT 1 AS one' }

const works = () => pool.query(ONE).then(() => true)

/** Ends, from outside, every connection that goes through the gate. */
const terminate = () =>
  db.control.query({
    text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'through the gate'`,
  })

const backends = async () => {
  const { rows } = await db.control.query<{ n: number }>({
    text: `SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'through the gate'`,
  })
  return rows[0]?.n ?? 0
}

describe('a pool', () => {
  afterEach(async () => {
    await pool.end()
    gate.end()
  })

  test('a pool outlives backends that are terminated while they idle', async () => {
    await openThroughGate(3)
    await Promise.all([works(), works(), works()])
    await terminate()
    await until('the backends to end', async () => (await backends()) === 0)
    await until('a statement to succeed', () => works().catch(() => false))
  })

  test('a pool outlives a backend that is terminated in the middle of a transaction', async () => {
    await openThroughGate(1)
    const work = pool.transaction(async (tx) => {
      await tx.query(ONE)
      await terminate()
      await tx.query(ONE)
    })
    await expect(work).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(await works()).toBe(true)
  })

  test('a pool outlives a connection that is lost between two statements of a transaction', async () => {
    await openThroughGate(1)
    const work = pool.transaction(async (tx) => {
      await tx.query(ONE)
      gate.cut()
      await until('the loss', async () => (await backends()) === 0)
    })
    await expect(work).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(await works()).toBe(true)
  })

  test('a pool reports connections that are cut under many statements at once, and goes on', async () => {
    await openThroughGate(4)
    const work = Promise.allSettled([1, 2, 3, 4].map((n) => pool.query({ text: `SELECT pg_sleep(6${n})` })))
    await Promise.all([1, 2, 3, 4].map((n) => gate.seen(`pg_sleep(6${n})`)))
    gate.cut()
    const reasons = (await work).map((outcome) => outcome.status === 'rejected' && outcome.reason)
    expect(reasons.every((reason) => reason instanceof DatabaseUnavailable)).toBe(true)
    expect(await works()).toBe(true)
  })

  test('a pool says that no database answers', async () => {
    await openThroughGate(1)
    gate.end()
    await expect(pool.query(ONE)).rejects.toBeInstanceOf(DatabaseUnavailable)
    await expect(pool.transaction((tx) => tx.query(ONE))).rejects.toBeInstanceOf(DatabaseUnavailable)
  })

  test('a pool says that a server takes the connection and says nothing', async () => {
    await openThroughGate(3)
    const silent = createServer((socket) => socket.on('error', () => {})) // cut by the pool
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as AddressInfo
    const connection = () => ({ host: '127.0.0.1', port, connectionTimeoutMillis: 100 })
    const waiting = createPool({ connection, max: 3, prepared: true, applicationName: 'not let in' })
    const works = [
      waiting.query(ONE),
      waiting.query({ ...ONE, long: true }),
      waiting.transaction((tx) => tx.query(ONE)),
    ]
    for (const outcome of await Promise.allSettled(works)) {
      expect(outcome).toMatchObject({ reason: expect.any(DatabaseUnavailable) })
    }
    await waiting.end()
    silent.close()
  })

  test('a pool leaves no connection in a transaction behind', async () => {
    await openThroughGate(2)
    const failing = Array.from({ length: 10 }, () =>
      pool.transaction((tx) => tx.query({ text: 'SELECT 1 / 0' })),
    )
    await Promise.allSettled(failing)
    const { rows } = await db.control.query({
      text: `SELECT state FROM pg_stat_activity WHERE application_name = 'through the gate' AND state LIKE '%transaction%'`,
    })
    expect(rows).toEqual([])
    expect(await works()).toBe(true)
  })
})

describe('a listener', () => {
  test('a listener stops at once while it is being connected and when it listens, though the server has gone silent', async () => {
    gate = await openGate(db.url)
    const connection = () => ({ connectionString: gate.url })
    let listens = false
    const connected = createListener(connection)
    connected.listen('some', () => {
      listens = true
    })
    await until('the first to listen', () => listens)
    gate.close()
    const connecting = createListener(connection)
    connecting.listen('some', () => {})
    await gate.seen('svc listen', 2)
    await Promise.all([connected.stop(), connecting.stop()])
    gate.end()
  })

  test('listens again after its connection was lost', async () => {
    gate = await openGate(db.url)
    let heard = 0
    const listener = createListener(() => ({ connectionString: gate.url }))
    listener.listen('news', () => {
      heard += 1
    })
    await until('it to listen', () => heard === 1)
    gate.cut()
    await until('it to listen again', () => heard === 2)
    await db.control.query({ text: `SELECT pg_notify('news', '')` })
    await until('it to hear', () => heard === 3)
    await listener.stop()
    gate.end()
  })
})

describe('the watch over the revision', () => {
  test('hears of changes by the hint, and by looking when the hint is lost', async () => {
    let moved = 0
    const count = () => {
      moved += 1
    }
    const hearing = await watchRevision(db.control, count)
    const looking = await watchRevision({ ...db.control, listen: () => {} }, count) // deaf
    await db.control.transaction(bumpRevision)
    await until('both to hear', () => moved === 2)
    await hearing.stop()
    await looking.stop()
  })
})

describe('a database that cannot be opened', () => {
  const open = (databaseUrl: string) =>
    openDatabase({ databaseUrl, pepper: 'x', dataDir: '/nowhere', poolSize: 1, preparedStatements: true })

  test.each([
    [
      'nobody answers',
      (url: URL) => Object.assign(url, { port: '1' }),
      /no PostgreSQL answers at 127\.0\.0\.1:1: .*ECONNREFUSED/,
    ],
    [
      'the host is unknown',
      (url: URL) => Object.assign(url, { hostname: 'no.such.host.invalid' }),
      /no PostgreSQL answers at no\.such\.host\.invalid:\d+/,
    ],
    [
      'the database is missing',
      (url: URL) => Object.assign(url, { pathname: '/missing' }),
      /database "missing" does not exist on 127\.0\.0\.1:\d+: create the database/,
    ],
    [
      'the password is wrong',
      (url: URL) => Object.assign(url, { password: 'wrong-guess' }),
      /rejects the user or password/,
    ],
  ])('a database that cannot be opened is named when %s', async (reason, change, want) => {
    // There is no wrong password where none is asked for.
    if (reason === 'the password is wrong' && (await trustsEverybody(db.url))) return
    const failure = await open(change(new URL(db.url)).href).catch((error: Error) => error)
    expect(failure).toBeInstanceOf(Error)
    expect(String(failure)).toMatch(want)
    expect(String(failure)).not.toContain('wrong-guess')
  })
})
