import { beforeEach, expect, test } from 'vitest'
import type { Database, RowResult } from '../../../runtime/database/database.ts'
import { createKeyring, type Keyring } from '../../../runtime/tenants/keys/keyring.ts'
import { makeKey } from '../../../runtime/tenants/keys/keys.ts'
import { makeToken } from '../../../runtime/tenants/keys/tokens.ts'

const KEY = makeKey('secret', 'sandbox')

const ROW = {
  tenant_id: 'ten_1',
  name: 'Harbour Coffee',
  plan: 'trial',
  verified_at: null,
  tenant_created: 0,
  id: 'key_1',
  environment: 'sandbox',
  kind: 'secret',
  scope: 'write',
  role: 'owner',
  allowed_ips: [],
  retired_at: null,
  revoked_at: null,
  version: '2026-05-19',
  lifts: [],
}

/** Questions to the database, answered by hand. */
let asked: PromiseWithResolvers<RowResult<never>>[]
let now: number
let keyring: Keyring

beforeEach(() => {
  asked = []
  now = 0
  const control: Database = {
    query<Row>() {
      const question = Promise.withResolvers<RowResult<never>>()
      asked.push(question)
      return question.promise as Promise<RowResult<Row>>
    },
  }
  keyring = createKeyring(control, 'pepper', () => now)
})

const answer = (index: number, rows: readonly object[]) =>
  asked[index]!.resolve({ rows: rows as never[], count: rows.length })

test('many who ask at once cost one question, and the next none', async () => {
  const finds = Array.from({ length: 20 }, () => keyring.find(KEY))
  answer(0, [ROW])
  const found = await Promise.all(finds)
  expect(new Set(found.map((credential) => credential?.key.id))).toEqual(new Set(['key_1']))
  expect(keyring.find(KEY)).toBe(found[0])
  expect(asked).toHaveLength(1)
})

test('an access token costs one question, and the next time none', async () => {
  const token = makeToken('at', 'sandbox')
  const first = keyring.find(token)
  answer(0, [{ ...ROW, id: 'tok_1', scopes: ['read', 'admin'], role: 'developer', expires_at: 60_000 }])
  const found = await first
  // The application may do what the member may: of `admin`, a developer has `write`.
  expect(found).toMatchObject({ actor: 'token', token: { scopes: ['read', 'write'], expiresAt: 60_000 } })
  expect(keyring.find(token)).toBe(found)
  expect(asked).toHaveLength(1)
})

test('a malformed access token costs none', () => {
  const token = makeToken('at', 'sandbox')
  const other = token.endsWith('0') ? '1' : '0'
  for (const wrong of [`${token.slice(0, -1)}${other}`, `${token}0`, makeToken('rt', 'sandbox')])
    expect(keyring.find(wrong)).toBeUndefined()
  expect(asked).toHaveLength(0)
})

test('a malformed key costs none', () => {
  expect(keyring.find(`${KEY.slice(0, -1)}!`)).toBeUndefined()
  expect(keyring.find('')).toBeUndefined()
  expect(asked).toHaveLength(0)
})

test.each([
  ['an unknown key', [], 2000],
  ['a known one', [ROW], 60_000],
])('the entry of %s is asked for again after its time', async (_, rows, age) => {
  const first = keyring.find(KEY)
  answer(0, rows)
  await first
  now = age - 1
  expect(keyring.find(KEY)).not.toBeInstanceOf(Promise)
  now = age
  expect(keyring.find(KEY)).toBeInstanceOf(Promise)
  expect(asked).toHaveLength(2)
})

test('a key that was read before a change is not kept after it', async () => {
  const before = keyring.find(KEY)
  keyring.forget()
  const after = keyring.find(KEY)
  answer(1, [{ ...ROW, revoked_at: 5 }])
  answer(0, [ROW])
  expect([(await before)?.revokedAt, (await after)?.revokedAt]).toEqual([null, 5])
  expect(keyring.find(KEY)).toMatchObject({ revokedAt: 5 })
})

test('a question that fails is asked again', async () => {
  const first = keyring.find(KEY)
  asked[0]!.reject(new Error('away'))
  await expect(first).rejects.toThrow('away')
  const second = keyring.find(KEY)
  answer(1, [ROW])
  expect(await second).toMatchObject({ key: { id: 'key_1' } })
})
