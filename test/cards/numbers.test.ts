/** Numbers of cards: made, kept sealed, shown to those who may see them, sealed anew under another key. */

import { pino } from 'pino'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { makeSecrets } from '../../runtime/cards/card-keys/make-secrets.ts'
import { reseal } from '../../runtime/cards/card-keys/rotation.ts'
import { rotateCardKey } from '../../runtime/operator/card-keys.ts'
import { checkDigit } from '../../runtime/platform/card-numbers.ts'
import { UnsealError } from '../../runtime/platform/secrets.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { refusal, speakFor } from '../api/fixtures.ts'
import { endPrograms, startProgram, until } from '../support/programs.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { CARD_VERSIONS, makeCard, makeCardholder, SHIPPING, speakAll } from './fixtures.ts'

let tenantId: string
let send: Send
let admin: Send
const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
const service = useService({ log })

beforeAll(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  admin = speak(service.urls.sandbox, { secret })
})
afterEach(endPrograms)

const keysOf = () => createCardKeys(service.database.cards!, service.clock)
const rotate = () => rotateCardKey(service.operator, service.database.cards, strictLog)
const details = async (id: string) => (await admin(`/v1/cards/${id}/details`)).body

async function query<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> {
  return (await service.database.control.query<Row>({ text }, values)).rows
}

const keyVersions = async () =>
  (
    await query<{ key_version: number }>('SELECT DISTINCT key_version FROM sandbox.card_numbers ORDER BY 1')
  ).map(({ key_version }) => key_version)

/** Everything in the database that is text, or bytes in hexadecimal. */
async function dump(): Promise<string> {
  const tables = await query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('control', 'sandbox', 'live')`,
  )
  const parts = await Promise.all(
    tables.map(({ name }) => query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)),
  )
  return parts.flatMap((rows) => rows.map(({ row }) => row)).join('\n')
}

test.each([
  ['400000000000000', '2'],
  ['411111111111111', '1'],
  ['37828224631000', '5'],
  ['7992739871', '3'],
])('the digit that checks %s is %s', (start, digit) => {
  expect(checkDigit(start)).toBe(digit)
})

test('numbers are of the range for tests, and differ', () => {
  const made = Array.from({ length: 1000 }, makeSecrets)
  expect(new Set(made.map(({ number }) => number)).size).toBe(1000)
  for (const { number, cvc } of made) {
    expect([number, cvc]).toEqual([expect.stringMatching(/^400000\d{10}$/), expect.stringMatching(/^\d{3}$/)])
    expect(checkDigit(number.slice(0, -1))).toBe(number.at(-1))
  }
})

describe('details', () => {
  test.each(CARD_VERSIONS)(
    'details of a virtual card in %s show its number, and are told in the audit log',
    async (version) => {
      const card = await makeCard(send)
      const { secret, id: keyId } = await makeKey(service, tenantId, { scope: 'admin' })
      const through = speak(service.urls.sandbox, { secret, version })
      const { status, headers, body } = await through(`/v1/cards/${card.id}/details`)
      expect([status, headers.get('Cache-Control')]).toEqual([200, 'no-store'])
      expect(body).toEqual({
        object: 'card_details',
        card_id: card.id,
        number: expect.stringMatching(/^400000\d{10}$/),
        cvc: expect.stringMatching(/^\d{3}$/),
        exp_month: card.exp_month,
        exp_year: card.exp_year,
      })
      expect(body.number.slice(-4)).toBe(card.last4)
      expect((await through(`/v1/cards/${card.id}/details`)).body).toEqual(body)
      const log = (await through(`/v1/audit_log?action=card_details.viewed&target_id=${card.id}`)).body.data
      expect(log).toHaveLength(2)
      expect(log[0]).toMatchObject({ actor: { id: keyId }, outcome: 'succeeded', version })
    },
  )

  test('details of a card are for scope admin alone', async () => {
    const { id } = await makeCard(send)
    for (const scope of ['read', 'write'] as const) {
      const { secret } = await makeKey(service, tenantId, { scope })
      const answer = await speak(service.urls.sandbox, { secret })(`/v1/cards/${id}/details`)
      expect([refusal(answer), answer.body.error.required_scope]).toEqual([
        [403, 'permission_error', 'insufficient_scope'],
        'admin',
      ])
    }
  })

  test('details of a physical card and of none are refused, which is told too', async () => {
    const { id } = await makeCard(send, { type: 'physical', shipping: SHIPPING })
    expect(refusal(await admin(`/v1/cards/${id}/details`))).toEqual([409, 'conflict', 'invalid_state'])
    const log = (await admin(`/v1/audit_log?action=card_details.viewed&target_id=${id}`)).body.data
    expect(log).toMatchObject([{ outcome: 'failed' }])
    const missing = await admin('/v1/cards/card_00000000000000000000000000/details')
    expect(refusal(missing)).toEqual([404, 'not_found', 'not_found'])
  })

  test('details of a card are of the environment’s own card', async () => {
    await verifyTenant(service.operator, tenantId)
    service.forget()
    const { secret } = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
    const live = speak(service.urls.live, { secret })
    const { id } = await makeCard(live)
    expect((await live(`/v1/cards/${id}/details`)).body.card_id).toBe(id)
    expect((await admin(`/v1/cards/${id}/details`)).status).toBe(404)
  })
})

test('a number stands nowhere but sealed: not in the database, the log, events, audit entries, stored responses', async () => {
  const through = await speakAll(service, tenantId)
  const cardholder_id = await makeCardholder(send)
  const headers = { 'Idempotency-Key': crypto.randomUUID() }
  const order = { body: { cardholder_id, type: 'virtual' }, headers }
  const first = await through['2025-11-01']('/v1/cards', order)
  expect((await through['2025-11-01']('/v1/cards', order)).text).toBe(first.text)
  const second = (await send(`/v1/cards/${first.body.id}/replace`, { body: { reason: 'lost' } })).body
  const everything = `${await dump()}\n${logged.join('\n')}\n${(await send('/v1/events?limit=100')).text}`
  expect(everything).toContain(second.id)
  for (const { id, last4 } of [first.body, second]) {
    const { number } = await details(id)
    expect(number.slice(-4)).toBe(last4)
    const forms = [
      number,
      Buffer.from(number).toString('hex'),
      Buffer.from(number).toString('base64').slice(0, 20),
    ]
    for (const form of [...forms, number.slice(0, -1), number.slice(6)])
      expect(everything).not.toContain(form)
  }
  expect(`${await dump()}\n${logged.join('\n')}`).not.toContain((await details(second.id)).number)
})

test('a number that is sealed for one card opens for no other', async () => {
  const keys = keysOf()
  const place = { environment: 'sandbox', space: tenantId, cardId: 'card_a' } as const
  const secrets = makeSecrets()
  const number = (await keys.sealer()).seal(secrets, place)
  expect(await keys.open(number, place)).toEqual(secrets)
  for (const other of [{ cardId: 'card_b' }, { space: 'ten_b' }, { environment: 'live' as const }]) {
    await expect(keys.open(number, { ...place, ...other })).rejects.toThrow(UnsealError)
  }
  const changed = Buffer.from(number.sealed)
  changed[changed.length - 1]! ^= 1
  await expect(keys.open({ ...number, sealed: changed }, place)).rejects.toThrow(UnsealError)
})

describe('a rotation', () => {
  const resealing = () => ({
    control: service.database.control,
    room: service.database.cards!,
    keys: keysOf(),
    clock: service.clock,
    log: strictLog,
  })

  test('seals every number anew, of both environments, and retires the old key', async () => {
    const cards = [await makeCard(send), await makeCard(send)]
    const before = await Promise.all(cards.map(({ id }) => details(id)))
    const [old] = (await keyVersions()).slice(-1)
    const { version, resealed } = await rotate()
    expect([version, resealed > 2]).toEqual([old! + 1, true])
    expect(await keyVersions()).toEqual([version])
    // This process seals under the old key for a while: that is found by the next look, and the key stays until then.
    const late = await makeCard(send)
    expect(await keyVersions()).toEqual([old, version])
    expect(await reseal(resealing())).toEqual({ resealed: 1, retired: [] })
    expect(await keyVersions()).toEqual([version])
    const { retired } = await reseal({ ...resealing(), graceS: 0 })
    expect(retired).toContain(old)
    expect(await query('SELECT sealed FROM control.card_keys WHERE version = $1', old)).toEqual([
      { sealed: null },
    ])
    expect((await details(late.id)).number.slice(-4)).toBe(late.last4)
    expect(await Promise.all(cards.map(({ id }) => details(id)))).toEqual(before)
  })

  test('twice at once makes one key, or two, one after the other', async () => {
    const both = await Promise.allSettled([rotate(), rotate()])
    const made = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value.version] : []))
    expect(new Set(made).size).toBe(made.length)
    expect(made.length).toBeGreaterThan(0)
    await reseal(resealing())
    expect(await keyVersions()).toEqual([Math.max(...made)])
  })

  test('a rotation of card keys that is killed in the middle is continued', async () => {
    const keys = keysOf()
    const sealer = await keys.sealer()
    const ids = Array.from({ length: 450 }, (_, index) => `card_${String(index).padStart(26, '0')}`)
    const all = ids.map((cardId) => ({ cardId, secrets: makeSecrets() }))
    for (const { cardId, secrets } of all) {
      const { key_version, sealed } = sealer.seal(secrets, {
        environment: 'sandbox',
        space: 'ten_killed',
        cardId,
      })
      const text =
        'INSERT INTO sandbox.card_numbers (tenant_id, card_id, fingerprint, key_version, sealed) VALUES ($1, $2, $3, $4, $5)'
      await query(text, 'ten_killed', cardId, await keys.digest(secrets.number), key_version, sealed)
    }
    const countAt = async (version: number) =>
      (
        await query<{ count: number }>(
          `SELECT count(*) AS count FROM sandbox.card_numbers WHERE tenant_id = 'ten_killed' AND key_version = $1`,
          version,
        )
      )[0]!.count
    const env = { DATABASE_URL: service.database.url, SVC_PEPPER: service.database.pepper }
    await service.database.control.transaction(async (db) => {
      // In the middle of a step: those before it are written, and it is not.
      const text = `SELECT FROM sandbox.card_numbers WHERE tenant_id = 'ten_killed' AND card_id = $1 FOR UPDATE`
      await db.query({ text }, [ids[400]])
      const program = startProgram(
        process.execPath,
        ['runtime/operator/command/admin.ts', 'card-keys', 'rotate'],
        env,
      )
      await until('it to wait', async () => {
        const waits = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        return (await query(waits)).length > 0
      })
      expect((await program.end('SIGKILL')).signal).toBe('SIGKILL')
    })
    await until('its connection to end', async () => {
      const left = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state LIKE '%transaction%'`
      return (await query(left)).length === 0
    })
    const version = sealer.version + 1
    const done = await countAt(version)
    expect(done).toBeGreaterThan(0)
    expect(done).toBeLessThan(all.length)
    expect(await countAt(sealer.version)).toBe(all.length - done)
    await reseal(resealing())
    expect(await countAt(version)).toBe(all.length)
    const [row] = await query<{ key_version: number; sealed: Buffer }>(
      `SELECT key_version, sealed FROM sandbox.card_numbers WHERE card_id = $1`,
      ids[400],
    )
    const place = { environment: 'sandbox', space: 'ten_killed', cardId: ids[400]! } as const
    expect(await keysOf().open(row!, place)).toEqual(all[400]!.secrets)
  })
})
