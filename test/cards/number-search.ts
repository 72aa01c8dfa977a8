/** Looks for card numbers in everything that a role can read of a database, and in texts. */
import { createHash, createHmac } from 'node:crypto'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import type { Database } from '../../runtime/database/database.ts'
import { deriveSecret } from '../../runtime/platform/secrets.ts'

/** Finds the name of a number in a value, in whatever form it is there; undefined if it is not. */
export type FindNumber = (value: string | Buffer) => string | undefined

/**
 * The number itself, with or without its check digit or its bank's digits, and digests that anyone can make of all numbers
 * who has the pepper at most.
 */
export function findNumbers(numbers: readonly string[], pepper: string): FindNumber {
  const weak = deriveSecret(pepper, 'fingerprints of card numbers')
  const needles = numbers.flatMap((number) => {
    const digests = [
      ...['sha256', 'sha1', 'md5'].map((hash) => createHash(hash).update(number).digest()),
      ...[weak, pepper].map((key) => createHmac('sha256', key).update(number).digest()),
    ]
    return [
      ...[number, number.slice(0, -1), number.slice(6), [...number].reverse().join('')],
      ...digests.flatMap((digest) => [
        digest.toString('hex'),
        digest.toString('base64').slice(0, -1),
        digest.toString('base64url'),
        digest.toString('latin1'),
      ]),
    ].map((needle) => ({ number, needle }))
  })
  return (value) =>
    formsOf(value)
      .flatMap((form) => needles.filter(({ needle }) => form.includes(needle)))
      .map(({ number }) => `a card number that ends in ${number.slice(-4)}`)[0]
}

const DECODERS = [gunzipSync, inflateSync, brotliDecompressSync]

function decode(bytes: Buffer): string[] {
  return DECODERS.flatMap((decoder) => {
    try {
      return [decoder(bytes).toString('latin1')]
    } catch {
      return [] // not compressed in this way
    }
  })
}

/** The value as text, without separators of digits, and what is encoded in it: hexadecimal, base64, compressed. */
function formsOf(value: string | Buffer): string[] {
  const text = typeof value === 'string' ? value : value.toString('latin1')
  const bytes = [
    ...(typeof value === 'string' ? [] : [value]),
    ...[...text.matchAll(/[0-9a-f]{16,}/gi)].map(([hex]) => Buffer.from(hex, 'hex')),
    ...[...text.matchAll(/[\w+/-]{16,}=*/g)].map(([encoded]) => Buffer.from(encoded, 'base64')),
  ]
  return [
    text,
    text.replaceAll(/[ .+-]|%20/g, ''),
    ...bytes.flatMap((each) => [each.toString('latin1'), each.toString('hex'), ...decode(each)]),
  ]
}

const COLUMNS = `
  SELECT format('%I.%I', n.nspname, c.relname) AS "table", a.attname AS "column"
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.relkind IN ('r', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
     AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
     AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
   ORDER BY 1, a.attnum`

interface Column {
  readonly table: string
  readonly column: string
}

/** Every column of every schema that the role can read: what a dump by this role can contain. */
export async function readableColumns(db: Database): Promise<readonly Column[]> {
  return (await db.query<Column>({ text: COLUMNS })).rows
}

/** Searches every value of every column. Returns where something was found, and how many values there are. */
export async function searchDatabase(db: Database, find: FindNumber) {
  const found: string[] = []
  let values = 0
  for (const [table, columns] of Map.groupBy(await readableColumns(db), (each) => each.table)) {
    const cells = columns.map(({ column }) => `"${column}"::text`)
    const { rows } = await db.query<Record<string, string | null>>({
      text: `SELECT ${cells.join(', ')} FROM ${table}`,
    })
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        if (value === null) continue
        values += 1
        const what = find(value.startsWith('\\x') ? Buffer.from(value.slice(2), 'hex') : value)
        if (what !== undefined) found.push(`${table}.${column} has ${what}`)
      }
    }
  }
  return { found, values }
}
