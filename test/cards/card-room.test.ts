/** Who can open card numbers: processes with the secret, and nobody with only the pepper or the roles of the environments. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { createRemoteVault } from '../../runtime/cards/card-keys/remote-vault.ts'
import { createRevealListener } from '../../runtime/cards/card-keys/reveal-listener.ts'
import { createRevealSeals } from '../../runtime/cards/card-keys/reveal-message.ts'
import { reseal } from '../../runtime/cards/card-keys/rotation.ts'
import { createLocalVault } from '../../runtime/cards/card-keys/vault.ts'
import { INSUFFICIENT_PRIVILEGE } from '../../runtime/database/errors.ts'
import { type OpenDatabase, openDatabase } from '../../runtime/database/open/open-database.ts'
import { rotateCardKey } from '../../runtime/operator/card-keys.ts'
import { UnsealError, unseal } from '../../runtime/platform/secrets.ts'
import type { ProcessRole } from '../../runtime/platform/settings.ts'
import { openRoom } from '../../runtime/process/card-room.ts'
import { type DemoDatabase, openDemoDatabase } from '../support/database.ts'
import { freePort } from '../support/ports.ts'
import { endPrograms, startService, until } from '../support/programs.ts'
import { openRelay } from '../support/relay.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { makeCard, makeCardholder } from './fixtures.ts'

const SECRET = 'the secret of card numbers, in tests'
const REFUSED = { code: INSUFFICIENT_PRIVILEGE }
const SEALED = { text: 'SELECT sealed FROM sandbox.card_numbers' }

afterEach(endPrograms)

describe('in a database of the version before', () => {
  const service = useService()

  /** Opens the same database as a process with these settings does. */
  const open = (settings: Partial<Parameters<typeof openDatabase>[0]>): Promise<OpenDatabase> =>
    openDatabase({
      databaseUrl: service.database.url,
      pepper: service.database.pepper,
      dataDir: '/nowhere',
      poolSize: 3,
      preparedStatements: true,
      ...settings,
    })

  test('the first rotation takes sealed numbers from the environments and the keys from the pepper, and the secret can be replaced', async () => {
    const { control, cards, sandbox, pepper } = service.database
    const tenantId = await makeTenant(service)
    const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
    const send = speak(service.urls.sandbox, { secret })
    const { id } = await makeCard(send)
    const { body } = await send(`/v1/cards/${id}/details`)
    await control.query({ text: 'UPDATE control.card_room SET closed = false' })
    await control.query({ text: 'GRANT SELECT, UPDATE ON sandbox.card_numbers TO svc_sandbox' })
    expect((await sandbox.query(SEALED)).count).toBe(1)
    const digest = await createCardKeys(cards!, service.clock).digest(body.number)

    const room = await open({ cardSecret: SECRET, roles: new Set(['reveal']) })
    const { version } = await rotateCardKey(service.operator, room.cards, strictLog)
    await expect(sandbox.query(SEALED)).rejects.toMatchObject(REFUSED)
    await expect(cards!.pool.query(SEALED)).rejects.toMatchObject(REFUSED)
    const keys = createCardKeys(room.cards!, service.clock)
    expect(await keys.digest(body.number)).toEqual(digest)
    const vault = createLocalVault(room.cards!, keys)
    const place = { environment: 'sandbox', space: tenantId, cardId: id } as const
    expect(await vault.reveal(place)).toEqual({ number: body.number, cvc: body.cvc })
    const { rows } = await control.query<{ sealed: Buffer }>({
      text: `SELECT sealed FROM control.card_keys WHERE version = ${version}
              UNION ALL SELECT digest_key FROM control.card_room`,
    })
    for (const { sealed } of rows) {
      for (const context of [`control.card_keys ${version}`, 'control.card_room.digest_key'])
        expect(() => unseal(pepper, sealed, context)).toThrow(UnsealError)
    }
    // Another secret takes the place of this one.
    const next = await open({ cardSecret: 'the next secret', previousCardSecret: SECRET })
    await rotateCardKey(service.operator, next.cards, strictLog)
    await expect(room.cards!.pool.query(SEALED)).rejects.toMatchObject(REFUSED)
    const nextKeys = createCardKeys(next.cards!, service.clock)
    const parts = { control, room: next.cards!, keys: nextKeys, clock: service.clock, log: strictLog }
    await reseal({ ...parts, graceS: 0 })
    const alone = createCardKeys({ ...next.cards!, previousSecret: undefined }, service.clock)
    expect(await createLocalVault(next.cards!, alone).reveal(place)).toEqual({
      number: body.number,
      cvc: body.cvc,
    })
    expect(await alone.digest(body.number)).toEqual(digest)

    const other = await open({ roles: new Set(['api']) })
    expect(other.cards).toBeUndefined()
    const without = (role: ProcessRole) =>
      openRoom({
        settings: { roles: new Set([role]) },
        database: other,
        clock: service.clock,
        log: strictLog,
      })
    await expect(without('network')).rejects.toThrow('SVC_CARD_SECRET')
    await expect((await without('api')).vault.reveal(place)).rejects.toThrow('REVEAL_URL')
    await expect(rotateCardKey(service.operator, undefined, strictLog)).rejects.toThrow('SVC_CARD_SECRET')
    const asking = await open({
      cardSecret: SECRET,
      roles: new Set(['api']),
      revealUrl: 'http://127.0.0.1:1',
    })
    expect(asking.cards).toBeUndefined()
    await Promise.all([room, next, other, asking].map((each) => each.close()))
  })
})

describe('a process without the keys', () => {
  const service = useService()

  async function listen() {
    const { cards, pepper } = service.database
    const clock = { machine: Date.now }
    const vault = createLocalVault(cards!, createCardKeys(cards!, clock))
    const parts = { vault, pepper, clock, log: strictLog, isReady: async () => true }
    const server = createServer(createRevealListener(parts))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { url, pepper, end: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) }
  }

  test('gets numbers from one that has them, over a socket that shows nothing', async () => {
    const { url, pepper, end } = await listen()
    const tenantId = await makeTenant(service)
    const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
    const send = speak(service.urls.sandbox, { secret })
    const { id } = await makeCard(send)
    const { number, cvc } = (await send(`/v1/cards/${id}/details`)).body
    const vault = createRemoteVault({
      url,
      pepper,
      clock: { machine: Date.now },
      log: strictLog,
      unavailable: (message) => new Error(message),
    })
    const place = { environment: 'sandbox', space: tenantId, cardId: id } as const
    expect(await vault.reveal(place)).toEqual({ number, cvc })
    expect(await vault.reveal({ ...place, environment: 'live' })).toBeUndefined()
    const [first, second] = await vault.propose(place)
    expect(first!.digest).not.toEqual(second!.digest)
    expect(first!.last4).toMatch(/^\d{4}$/)

    const { sealed } = createRevealSeals(pepper).ask('reveal', place, Date.now())
    const answer = await fetch(url, { method: 'POST', body: new Uint8Array(sealed) })
    const wire = `${sealed.toString('latin1')}${Buffer.from(await answer.arrayBuffer()).toString('latin1')}`
    expect([answer.status, wire.includes(number), wire.includes(id)]).toEqual([200, false, false])
    await end()
  })

  test.each([
    [
      'sealed with another pepper',
      403,
      (place: Place) => createRevealSeals('x').ask('reveal', place, Date.now()).sealed,
    ],
    ['a minute old', 403, (place: Place) => ownSeals().ask('reveal', place, Date.now() - 60_000).sealed],
    ['of the future', 403, (place: Place) => ownSeals().ask('reveal', place, Date.now() + 60_000).sealed],
    ['no question', 403, () => Buffer.from('{"method":"reveal"}')],
    ['longer than a question', 413, () => Buffer.alloc(5000)],
  ])('a question that is %s gets %i', async (_, status, ask) => {
    const { url, end } = await listen()
    const body = new Uint8Array(ask({ environment: 'sandbox', space: 'ten_1', cardId: 'card_1' }))
    expect((await fetch(url, { method: 'POST', body })).status).toBe(status)
    await end()
  })

  type Place = Parameters<ReturnType<typeof createRevealSeals>['ask']>[1]
  const ownSeals = () => createRevealSeals(service.database.pepper)
})

describe('processes', () => {
  let db: DemoDatabase
  beforeAll(async () => {
    db = await openDemoDatabase('2026-05-19')
  })
  afterAll(() => db.close())

  test('an API process issues and reveals through a reveal process, also after that one is killed in the middle', {
    timeout: 60_000,
  }, async () => {
    const port = String(await freePort())
    const env = { DATABASE_URL: db.url, SVC_PEPPER: db.pepper }
    const startRoom = () =>
      startService({ ...env, SVC_CARD_SECRET: SECRET, REVEAL_PORT: port }, ['--json', '--role', 'reveal'])
    const first = startRoom()
    const between = await openRelay(`http://127.0.0.1:${port}`)
    const api = startService({ ...env, REVEAL_URL: between.url.replace(/\/$/, '') }, [
      '--json',
      '--role',
      'api',
    ])
    const [{ sandbox_base_url: url }] = await Promise.all([api.ready(), first.ready()])
    const send = speak(String(url), { secret: db.keys.sandbox_secret })
    const card = await makeCard(send)
    const { body } = await send(`/v1/cards/${card.id}/details`)
    expect(body.number.slice(-4)).toBe(card.last4)
    await expect(db.cards!.pool.query(SEALED)).rejects.toMatchObject(REFUSED)

    const call = {
      body: { cardholder_id: await makeCardholder(send), type: 'virtual' },
      headers: { 'Idempotency-Key': randomUUID() },
    }
    process.kill(first.pid, 'SIGSTOP')
    const before = between.sent()
    const waiting = send('/v1/cards', call)
    await until('the question', () => between.sent() > before)
    await first.end('SIGKILL')
    expect((await waiting).status).toBe(503)
    expect((await send(`/v1/cards/${card.id}/details`)).status).toBe(503)
    await startRoom().ready()
    const issued = await send('/v1/cards', call)
    expect([issued.status, (await send('/v1/cards', call)).text]).toEqual([201, issued.text])
    expect((await send('/v1/cards')).body.data).toHaveLength(2)
    const { count } = await db.control.query({ text: 'SELECT FROM control.card_directory' })
    expect(count).toBe(2)
    expect(api.stderr()).not.toContain(body.number)

    await between.down()
  })
})
