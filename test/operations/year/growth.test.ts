import { expect, test } from 'vitest'
import { openTestDatabase } from '../../support/database.ts'
import { GROWTHS, growthOf, judge, readGrowths, type Sample, TABLES } from './growth.ts'

const MB = 1024 * 1024

interface Growth {
  /** Rows of a table on a day. A table that is not named here stays as it is. */
  readonly rows?: Readonly<Record<string, (day: number) => number>>
  readonly bytesEach?: (day: number) => number
  readonly files?: (day: number) => number
  readonly memory?: (day: number) => number
}

/** Samples of 52 weeks, with 70 new objects in each. */
function yearOf({ rows = {}, bytesEach, files, memory }: Growth): Sample[] {
  const tables = { 'sandbox.passes': (day: number) => day * 5, 'sandbox.tokens': () => 3, ...rows }
  return Array.from({ length: 52 }, (_, index) => {
    const day = (index + 1) * 7
    return {
      day,
      created: day * 10,
      tables: new Map(
        Object.entries(tables).map(([name, at]) => [
          name,
          { rows: at(day), bytes: at(day) * (bytesEach?.(day) ?? 200) },
        ]),
      ),
      files: { own: files?.(day) ?? 10, relations: 2000 },
      memory: memory?.(day) ?? 200 * MB,
    }
  })
}

test('a year in which rows grow with what is created has no faults', () => {
  expect(judge(yearOf({})).faults).toEqual([])
})

test.each<[string, Growth, RegExp]>([
  [
    'expired rows that stay',
    { rows: { 'sandbox.tokens': (day) => 3 + day / 7 } },
    /^sandbox\.tokens has 55 rows on day 364; expected at most 46$/,
  ],
  [
    'a retention that ends to work in the autumn',
    { rows: { 'sandbox.request_log': (day) => Math.max(300, (day - 260) * 40) } },
    /^sandbox\.request_log has 4160 rows/,
  ],
  [
    'more rows for each object',
    { rows: { 'sandbox.passes': (day) => day * day } },
    /^sandbox\.passes has 132496 rows/,
  ],
  [
    'pages that are not used again',
    { rows: { 'sandbox.passes': (day) => day * 500 }, bytesEach: (day) => day * 2 },
    /^sandbox\.passes takes \d+ bytes/,
  ],
  [
    'a table that nothing is known about',
    { rows: { 'sandbox.stamps': () => 1 } },
    /^sandbox\.stamps is not listed in docs\/operations\/retention\.md$/,
  ],
  ['files that stay', { files: (day) => day }, /^364 files of the service; 182 in the middle$/],
  ['memory', { memory: (day) => (100 + day) * MB }, /^\d+ MB of memory; \d+ MB before the middle$/],
])('a year with %s has one fault', (_, growth, fault) => {
  expect(judge(yearOf(growth)).faults).toEqual([expect.stringMatching(fault)])
})

test('the page about retention lists each table of the database once', async () => {
  const database = await openTestDatabase()
  const { rows } = await database.control.query<{ name: string }>({ text: TABLES })
  await database.close()
  const names = rows.map(({ name }) => name)
  expect(names.filter((name) => !growthOf(name))).toEqual([])
  const known = new Set(names.flatMap((name) => [name, name.slice(name.indexOf('.') + 1)]))
  expect([...GROWTHS.keys()].filter((name) => !known.has(name))).toEqual([])
})

test('days of a retention and of its partitions add up', () => {
  const page = `
## Deleted after a time

| table | kept for | why |
|---|---|---|
| \`live.events\`, \`scans\` | 30 days, in partitions of 7 days | for 90 days |
| \`tokens\` | until they expire | |

## Kept

| table | one row for each |
|---|---|
| \`passes\` | pass of the last 3 days |
`
  expect(Object.fromEntries(readGrowths(page))).toEqual({
    'live.events': { growth: 'limited', days: 38 },
    scans: { growth: 'limited', days: 38 },
    tokens: { growth: 'limited', days: 1 },
    passes: { growth: 'kept' },
  })
  expect(() => readGrowths(page.replace('scans', 'tokens'))).toThrow('lists tokens twice')
})
