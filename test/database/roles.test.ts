import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { INSUFFICIENT_PRIVILEGE } from '../../runtime/database/errors.ts'
import { openTestDatabase, type TestDatabase } from '../support/database.ts'

let db: TestDatabase

beforeAll(async () => {
  db = await openTestDatabase()
})

afterAll(() => db.close())

const DENIED = { code: INSUFFICIENT_PRIVILEGE }

describe.each([
  ['sandbox', 'live'],
  ['live', 'sandbox'],
] as const)('the role of %s', (own, other) => {
  test.each([
    ['reads keys', 'SELECT * FROM control.keys'],
    ['reads tenants', 'SELECT * FROM control.tenants'],
    ['moves the clock', 'UPDATE control.clock SET offset_ms = 1'],
    [`reads passes of ${other}`, `SELECT * FROM ${other}.passes`],
    [`adds passes to ${other}`, `INSERT INTO ${other}.passes DEFAULT VALUES`],
    ['changes the audit log', `UPDATE audit_log SET tenant_id = 'x'`],
    ['deletes from the audit log', 'DELETE FROM audit_log'],
    ['empties the audit log', 'TRUNCATE audit_log'],
    ['makes tables', 'CREATE TABLE mine (id int)'],
    ['makes tables in public', 'CREATE TABLE public.mine (id int)'],
    [`becomes the role of ${other}`, `SET ROLE svc_${other}`],
    ['makes roles', 'CREATE ROLE mine'],
    ['reads sealed card numbers', 'SELECT sealed FROM card_numbers'],
    ['reads digests of card numbers', 'SELECT fingerprint FROM card_numbers'],
    ['reads card numbers', 'SELECT tenant_id FROM card_numbers'],
    ['deletes card numbers', 'DELETE FROM card_numbers'],
    ['changes card numbers', `UPDATE card_numbers SET sealed = ''`],
    ['reads keys of card numbers', 'SELECT * FROM control.card_keys'],
    ['reads the key of the digests', 'SELECT * FROM control.card_room'],
    ['reads the directory', 'SELECT * FROM control.card_directory'],
    [`adds cards of ${other}`, `INSERT INTO control.card_directory_${other} VALUES ('${other}', '', '', '')`],
    [
      `adds cards of ${other} through its own`,
      `INSERT INTO control.card_directory VALUES ('${other}', '', '', '')`,
    ],
  ])('a role of the runtime never %s', async (_, text) => {
    await expect(db[own].query({ text })).rejects.toMatchObject(DENIED)
  })

  test('a role has its own schema as the only one', async () => {
    const { rows } = await db[own].query({
      text: `SELECT current_user AS role, current_schemas(false)::text AS path, current_setting('timezone') AS zone`,
    })
    expect(rows).toEqual([{ role: `svc_${own}`, path: `{${own}}`, zone: 'UTC' }])
    expect((await db[own].query({ text: 'SELECT * FROM passes' })).rows).toEqual([])
  })
})
