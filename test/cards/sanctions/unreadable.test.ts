/** A list with a name that cannot be compared. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readList } from '../../../runtime/cards/sanctions/list.ts'
import { openSanctions } from '../../../runtime/cards/sanctions/list-in-use.ts'
import { createMatcher } from '../../../runtime/cards/sanctions/matcher.ts'
import type { Database } from '../../../runtime/database/database.ts'
import { checkSanctions } from '../../../runtime/operator/doctor/sanctions.ts'

// No name is known that fails; this one is made to, in the first step that reads it.
const { normalize } = String.prototype
beforeEach(() => {
  vi.spyOn(String.prototype, 'normalize').mockImplementation(function (this: string, form) {
    if (form === 'NFKC' && this.includes('BROKEN NAME')) throw new RangeError('no such syllable')
    return normalize.call(this, form)
  })
})
afterEach(() => vi.restoreAllMocks())

const line = (id: number, name: string) =>
  `${id},"${name}",individual,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"Digital Currency Address - ETH 0x${String(id).repeat(40)}."\r\n`

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-unread-'))
  writeFileSync(join(folder, 'sdn.csv'), line(7, 'BRÖKEN, Ana Maria') + line(8, 'VOLKOV, Dmitri'))
  writeFileSync(join(folder, 'alt.csv'), '7,1,"aka","BROKEN NAME",-0- \r\n')
})
afterEach(() => rmSync(folder, { recursive: true }))

const ids = (matches: readonly { readonly entry: { readonly id: string } }[]) =>
  matches.map(({ entry }) => entry.id)
const subject = (name: string) =>
  ({ type: 'individual', name, date_of_birth: null, billing_address: null }) as const

test('the other names are found as before, its own where it is written the same', async () => {
  const matcher = await createMatcher((await readList(folder)).entries)
  const found = (name: string) => ids(matcher.match(subject(name)))
  expect(matcher.unread).toEqual([{ id: '7', problem: 'RangeError: no such syllable' }])
  expect(found('Dmitry Volkov')).toEqual(['8'])
  expect(found('Broken Name')).toEqual(['7'])
  expect(found('name, BRÓKEN')).toEqual(['7'])
  expect(found('Brokken Name')).toEqual([])
  expect(found('Maria Broken')).toEqual(['7'])
  expect(matcher.findWallet(`0x${'7'.repeat(40)}`)?.id).toBe('7')
})

test('the log and doctor name it', async () => {
  const logged: unknown[] = []
  const rows = [{ number: 1, version: (await readList(folder)).version }]
  const control = { query: () => Promise.resolve({ rows }) } as unknown as Database
  const log = { error: (fields: object, message?: string) => void logged.push([fields, message]) }
  const sanctions = await openSanctions(control, folder, Date.now, log)
  expect(ids(sanctions.list().match(subject('Dmitri Volkov')))).toEqual(['8'])
  expect(logged).toEqual([
    [
      { list: 'OFAC SDN', id: '7', problem: 'RangeError: no such syllable' },
      'A name on the sanctions list cannot be indexed; screening matches only its exact spelling.',
    ],
  ])
  expect(await checkSanctions({ sanctionsList: folder })).toEqual({
    check: 'sanctions list',
    verdict: 'warn',
    words: expect.stringMatching(
      /^OFAC SDN with 2 entries; names that match only their exact spelling: 1, the first in entry 7: RangeError: no such syllable/,
    ),
  })
})
