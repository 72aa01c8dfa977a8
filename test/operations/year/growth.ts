/** Samples of what a service keeps, and the decision whether something grows that should not. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { ROOT } from '../../support/programs.ts'

/** Reads rows as the owner of the database. */
export type Read = <Row extends pg.QueryResultRow>(
  text: string,
  values?: readonly unknown[],
) => Promise<readonly Row[]>

export interface Sample {
  readonly day: number
  /** Number of objects that merchants have created since the start. */
  readonly created: number
  /** Rows and bytes by table. Partitions count for their table. */
  readonly tables: ReadonlyMap<string, { readonly rows: number; readonly bytes: number }>
  /** Files below the data directory: those of the service, and those of relations of PostgreSQL. */
  readonly files: { readonly own: number; readonly relations: number }
  /** Resident memory of the service’s process, in bytes. */
  readonly memory: number
}

/**
 * How a table may grow: `kept` rows in proportion to what is created, `limited` rows only until they are as old as the
 * retention, and `bounded` ones not at all.
 */
export type TableGrowth =
  | { readonly growth: 'kept' | 'bounded' }
  | { readonly growth: 'limited'; readonly days: number }

const SECTIONS: Readonly<Record<string, TableGrowth['growth']>> = {
  'Deleted after a time': 'limited',
  Kept: 'kept',
  Bounded: 'bounded',
}

/** Reads how tables may grow, by name, from the tables of `docs/operations/retention.md`. */
export function readGrowths(page: string): ReadonlyMap<string, TableGrowth> {
  const growths = new Map<string, TableGrowth>()
  for (const section of page.split('\n## ')) {
    const growth = SECTIONS[section.slice(0, section.indexOf('\n'))]
    if (!growth) continue
    for (const [, names = '', next = ''] of section.matchAll(/^\| (`.+?) \|(.*?)\|/gm)) {
      // A partition is dropped when its last day is old enough. A day more, because samples are not taken at midnight.
      const days = [...next.matchAll(/(\d+) days/g)].reduce((sum, [, each]) => sum + Number(each), 1)
      for (const [, name = ''] of names.matchAll(/`(.+?)`/g)) {
        if (growths.has(name)) throw new Error(`docs/operations/retention.md lists ${name} twice`)
        growths.set(name, growth === 'limited' ? { growth, days } : { growth })
      }
    }
  }
  return growths
}

export const GROWTHS = readGrowths(readFileSync(join(ROOT, 'docs/operations/retention.md'), 'utf8'))

/** Returns how a table may grow. @param name such as `sandbox.events`; the page may name both environments at once. */
export const growthOf = (name: string): TableGrowth | undefined =>
  GROWTHS.get(name) ?? GROWTHS.get(name.slice(name.indexOf('.') + 1))

/** Names of all tables, such as `sandbox.events`. */
export const TABLES = `SELECT format('%s.%s', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname IN ('control', 'sandbox', 'live') AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`

const bytesOf = (name: string) =>
  `(SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('${name}'::regclass))`

export async function takeSample(
  read: Read,
  { day, created, dataDir, pid }: Pick<Sample, 'day' | 'created'> & { dataDir: string; pid: number },
): Promise<Sample> {
  const names = (await read<{ name: string }>(TABLES)).map(({ name }) => name)
  const counts = names.map(
    (name) =>
      `SELECT '${name}' AS name, (SELECT count(*) FROM ${name})::float8 AS rows,
              coalesce(${bytesOf(name)}, pg_total_relation_size('${name}'))::float8 AS bytes`,
  )
  const rows = await read<{ name: string; rows: number; bytes: number }>(counts.join(' UNION ALL '))
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  const isOfDatabase = (path: string) => path.startsWith(join(dataDir, 'postgres'))
  return {
    day,
    created,
    tables: new Map(rows.map(({ name, rows, bytes }) => [name, { rows, bytes }])),
    files: {
      own: files.filter(({ parentPath }) => !isOfDatabase(parentPath)).length,
      relations: files.filter(({ parentPath }) => /\/base\/\d+$/.test(parentPath)).length,
    },
    memory: 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]),
  }
}

/** Rows by which a table may differ from one sample to another, because jobs and samples are at different times of a day. */
const FEW = 10
/** The same as a part, for rows in proportion to what was created and for those that do not grow. */
const PART = 0.25

const MB = 1024 * 1024

/** Days after which the memory of a process says something: earlier, it still warms up. */
const MEMORY_DAYS = 60

export interface Verdict {
  readonly lines: readonly string[]
  readonly faults: readonly string[]
}

/**
 * Compares the second half of the samples with the first half.
 *
 * A table whose rows are kept, or are not old enough for their retention, fails if it gains more rows for each created object
 * in the second half than in the first, by a quarter. Each other table fails if it ends with more rows than the largest sample of the first half, by a
 * quarter. Bytes fail if a row takes more than 1.5 times as many as in the middle, after the first megabyte or, because
 * vacuum comes once a minute, four old versions of a large row. Files of the
 * service must not become more; files of relations and, after 60 days, the median memory may grow by a quarter.
 */
export function judge(samples: readonly Sample[]): Verdict {
  const middle = Math.floor((samples.length - 1) / 2)
  const [first, half, last] = [samples[0]!, samples[middle]!, samples.at(-1)!]
  const faults: string[] = []
  const lines = [
    row('table', `day ${first.day}`, `day ${half.day}`, `day ${last.day}`, 'per 1000, 1st', '2nd half', 'MB'),
  ]
  for (const [name, end] of last.tables) {
    const at = (sample: Sample) => sample.tables.get(name)?.rows ?? 0
    const [before, after] = [slope(first, half, at), slope(half, last, at)]
    const most = Math.max(...samples.slice(0, middle + 1).map(at))
    const allowed = growthOf(name)
    if (!allowed) faults.push(`${name} is not listed in docs/operations/retention.md`)
    const mayGrow = allowed?.growth === 'kept' || (allowed?.growth === 'limited' && half.day < allowed.days)
    const expected = mayGrow
      ? at(half) + (Math.max(before, 0) * (1 + PART) * (last.created - half.created)) / 1000 + FEW
      : most * (1 + PART) + FEW
    if (end.rows > expected)
      faults.push(`${name} has ${end.rows} rows on day ${last.day}; expected at most ${Math.round(expected)}`)
    const known = half.tables.get(name)
    const bytesEach = (known?.bytes ?? 0) / Math.max(known?.rows ?? 0, 1)
    const mostBytes = Math.max(bytesEach * end.rows, known?.bytes ?? 0) * 1.5 + Math.max(MB, 4 * bytesEach)
    if (end.bytes > mostBytes)
      faults.push(`${name} takes ${end.bytes} bytes on day ${last.day}; expected at most ${mostBytes}`)
    if (end.rows > FEW)
      lines.push(
        row(
          name,
          at(first),
          at(half),
          end.rows,
          before.toFixed(1),
          after.toFixed(1),
          (end.bytes / MB).toFixed(1),
        ),
      )
  }
  const { own, relations } = last.files
  if (own > half.files.own) faults.push(`${own} files of the service; ${half.files.own} in the middle`)
  if (relations > half.files.relations * (1 + PART))
    faults.push(`${relations} files of relations; ${half.files.relations} in the middle`)
  const memory = (from: number, to?: number) => median(samples.slice(from, to).map((each) => each.memory))
  const [early, late] = [
    memory(Math.floor(middle / 2), middle + 1),
    memory(Math.floor((middle + samples.length) / 2)),
  ]
  if (last.day >= MEMORY_DAYS && late > early * (1 + PART))
    faults.push(`${Math.round(late / MB)} MB of memory; ${Math.round(early / MB)} MB before the middle`)
  lines.push(
    row('files of the service', first.files.own, half.files.own, own),
    row('files of relations', first.files.relations, half.files.relations, relations),
    row('memory, MB', ...[first.memory, early, late].map((bytes) => Math.round(bytes / MB))),
  )
  return { lines, faults }
}

/** Rows that a table gained for each thousand created objects. */
function slope(from: Sample, to: Sample, at: (sample: Sample) => number): number {
  return (1000 * (at(to) - at(from))) / Math.max(1, to.created - from.created)
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

const row = (name: string, ...cells: readonly (string | number)[]) =>
  name.padEnd(34) + cells.map((cell) => String(cell).padStart(14)).join('')
