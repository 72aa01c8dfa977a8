/** The directory of card numbers: from a number to its card, across tenants. */
import { pino } from 'pino'
import { beforeAll, expect, test } from 'vitest'
import { createAccountChanges } from '../../runtime/account/account/changes.ts'
import { wipeWorker } from '../../runtime/account/account/wipe-job.ts'
import { wipeSpace } from '../../runtime/account/account/wipe-queries.ts'
import { type CardKeys, createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../../runtime/cards/card-keys/directory.ts'
import { enterCard } from '../../runtime/cards/card-keys/directory-queries.ts'
import { listingWorker } from '../../runtime/cards/card-keys/listing.ts'
import { makeSecrets } from '../../runtime/cards/card-keys/make-secrets.ts'
import type { Database } from '../../runtime/database/database.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { makeCard } from './fixtures.ts'

const service = useService()
let keys: CardKeys
let senders: readonly { readonly tenantId: string; readonly send: Send }[]
beforeAll(async () => {
  keys = createCardKeys(service.database.cards!, service.clock)
  const tenants = [await makeTenant(service), await makeTenant(service)]
  senders = await Promise.all(
    tenants.map(async (tenantId) => {
      const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
      return { tenantId, send: speak(service.urls.sandbox, { secret }) }
    }),
  )
})

const directory = (database: Database = service.database.cards!.pool) => createCardDirectory(database, keys)
const numberOf = async (send: Send, id: string): Promise<string> =>
  (await send(`/v1/cards/${id}/details`)).body.number

/** A database that counts the statements. */
function counting() {
  const { pool } = service.database.cards!
  const counted = { statements: 0, query: pool.query }
  counted.query = (...words) => {
    counted.statements += 1
    return pool.query(...words)
  }
  return counted
}

test('a number leads to its card, whoever issued it, and in its own environment only', async () => {
  for (const { tenantId, send } of senders) {
    const { id } = await makeCard(send)
    const number = await numberOf(send, id)
    expect(await directory().find('sandbox', number)).toEqual({ space: tenantId, cardId: id })
    expect(await directory().find('live', number)).toBeUndefined()
  }
  const [{ tenantId } = senders[0]!] = senders
  await verifyTenant(service.operator, tenantId)
  service.forget()
  const { secret } = await makeKey(service, tenantId, { environment: 'live', scope: 'admin' })
  const live = speak(service.urls.live, { secret })
  const { id } = await makeCard(live)
  expect(await directory().find('live', await numberOf(live, id))).toEqual({ space: tenantId, cardId: id })
})

test('a known number costs no statement, and an unknown one is looked up again', async () => {
  const [{ send } = senders[0]!] = senders
  const { id } = await makeCard(send)
  const number = await numberOf(send, id)
  const database = counting()
  const own = directory(database)
  expect((await Promise.all([own.find('sandbox', number), own.find('sandbox', number)]))[1]?.cardId).toBe(id)
  await own.find('sandbox', number)
  expect(database.statements).toBe(1)
  const { number: later } = makeSecrets()
  expect(await own.find('sandbox', later)).toBeUndefined()
  const card = { space: 'ten_later', cardId: 'card_later' }
  await enterCard(service.database.sandbox, 'sandbox', await keys.digest(later), card)
  expect(await own.find('sandbox', later)).toEqual(card)
  const small = createCardDirectory(database, keys, 1)
  for (const each of [number, later, number]) await small.find('sandbox', each)
  expect(database.statements).toBe(6)
})

test('cards of the version before are entered, the older of two with one number wins, and the other is reported', async () => {
  const { cards, control, sandbox } = service.database
  const sealer = await keys.sealer()
  const secrets = makeSecrets()
  const write = async (space: string, cardId: string, fingerprint: string, number = secrets) => {
    const { key_version, sealed } = sealer.seal(number, { environment: 'sandbox', space, cardId })
    const text =
      'INSERT INTO card_numbers (tenant_id, card_id, fingerprint, key_version, sealed) VALUES ($1, $2, $3, $4, $5)'
    await sandbox.query({ text }, [space, cardId, Buffer.from(fingerprint), key_version, sealed])
  }
  await write('ten_b', 'card_2', 'made with the pepper')
  await write('ten_a', 'card_3', 'made with the pepper')
  await write('ten_c', 'card_1', 'made with the pepper')
  const broken = 'card_0'
  await write('ten_d', broken, 'made with the pepper', makeSecrets())
  await control.query({ text: `UPDATE sandbox.card_numbers SET card_id = 'card_9' WHERE card_id = $1` }, [
    broken,
  ])
  const told: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push(line) })
  await listingWorker({ control, room: cards!, keys, clock: service.clock, log }).runOnce()
  expect(await directory().find('sandbox', secrets.number)).toEqual({ space: 'ten_c', cardId: 'card_1' })
  const lines = told.map((line) => JSON.parse(line))
  expect(lines.filter(({ holder }) => holder).map(({ card_id }) => card_id)).toEqual(['card_2', 'card_3'])
  expect(told.join()).not.toContain(secrets.number)
  const { rows } = await control.query<{ card_id: string; listed: boolean; fingerprint: Buffer }>({
    text: `SELECT card_id, listed, fingerprint FROM sandbox.card_numbers WHERE tenant_id ~ '^ten_[abcd]$' ORDER BY 1`,
  })
  expect(rows.map(({ card_id, listed }) => [card_id, listed])).toEqual([
    ['card_1', true],
    ['card_2', false],
    ['card_3', false],
    ['card_9', null], // cannot be opened: set aside
  ])
  expect(rows[0]!.fingerprint).toEqual(await keys.digest(secrets.number))
})

test('a wipe of the sandbox removes its cards from the directory', async () => {
  const [{ send } = senders[0]!, { tenantId, send: other } = senders[1]!] = senders
  const cards = [await makeCard(other), await makeCard(other), await makeCard(send)]
  const numbers = [
    await numberOf(other, cards[0].id),
    await numberOf(other, cards[1].id),
    await numberOf(send, cards[2].id),
  ]
  const { database, clock } = service
  const wipe = (tx: Database) => wipeSpace(tx, tenantId, clock.machine())
  await createAccountChanges(database.control, database.pepper, 'sandbox', clock)
    .forTenant(tenantId)
    .transaction(wipe)
  await wipeWorker({ database, clock, log: strictLog, batch: 1, graceMs: 0 }).runOnce()
  const found = await Promise.all(numbers.map((number) => directory().find('sandbox', number)))
  expect(found.map((each) => each?.cardId)).toEqual([undefined, undefined, cards[2].id])
  const text = 'SELECT FROM control.card_directory WHERE space = $1 AND environment = $2'
  expect((await database.control.query({ text }, [tenantId, 'sandbox'])).count).toBe(0)
})
