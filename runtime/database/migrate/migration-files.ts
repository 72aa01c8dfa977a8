import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One SQL file of the migrations folder. */
export interface MigrationFile {
  /** `0002_passes` */
  readonly name: string
  readonly path: string
  readonly text: string
  /** Hex SHA-256 of the text, line ends counted as one character. */
  readonly checksum: string
  /** Whether it runs once per environment, under that environment's search_path, or once as it is. */
  readonly each: boolean
  /** Of a file headed `concurrently`, which holds nothing else and runs outside a transaction. */
  readonly indexes?: readonly IndexStatement[]
}

/** CREATE INDEX or DROP INDEX, taken apart so that it can be done concurrently, partition by partition. */
export interface IndexStatement {
  readonly line: number
  readonly name: string
  /** Absent: the index is dropped. */
  readonly on?: {
    readonly unique: boolean
    readonly table: string
    /** What follows the table: columns and options. */
    readonly definition: string
  }
}

/** A migration that cannot be run or does not agree with what was run before; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

/** What has been done on a database: files by name, with the checksum that they had. */
export interface MigrationProgress {
  readonly applied: ReadonlyMap<string, string>
  /** Files of indexes of which some are built. */
  readonly begun: ReadonlyMap<string, string>
}

export const MIGRATIONS = join(import.meta.dirname, '../migrations')

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/

const HEADER = /^-- (once: control|each environment)(, concurrently)?$/

const INDEX_STATEMENT =
  /^(?:CREATE\s+(?<unique>UNIQUE\s+)?INDEX\s+(?<name>\w+)\s+ON\s+(?<table>\w+)\s*(?<definition>USING\b.+|\(.+)|DROP\s+INDEX\s+(?<dropped>\w+))$/is

/** Split at each semicolon: one inside a literal leaves pieces that are refused. */
function readIndexes(path: string, text: string): readonly IndexStatement[] {
  const statements: IndexStatement[] = []
  let line = 1
  for (const piece of text.replaceAll(/--.*/g, '').split(';')) {
    const start = line + (/^\s*/.exec(piece)?.[0].split('\n').length ?? 1) - 1
    line += piece.split('\n').length - 1
    if (piece.trim() === '') continue
    const { unique, name, table, definition, dropped } = INDEX_STATEMENT.exec(piece.trim())?.groups ?? {}
    if (dropped !== undefined) statements.push({ line: start, name: dropped })
    else if (name !== undefined && table !== undefined && definition !== undefined) {
      statements.push({ line: start, name, on: { unique: unique !== undefined, table, definition } })
    } else {
      throw new MigrationError(
        `${path}:${start}: a concurrently file holds only "CREATE [UNIQUE] INDEX name ON table …" and "DROP INDEX name", without a schema or CONCURRENTLY`,
      )
    }
  }
  return statements
}

function readFile(directory: string, fileName: string): MigrationFile {
  const path = join(directory, fileName)
  if (!FILE_NAME.test(fileName)) {
    throw new MigrationError(`${path}: is not named NNNN_words_like_this.sql`)
  }
  const text = readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
  const [, where, concurrently] = HEADER.exec(text.slice(0, text.indexOf('\n')).trim()) ?? []
  if (where === undefined) {
    throw new MigrationError(
      `${path}:1: the first line must be "-- once: control" or "-- each environment", with ", concurrently" where it builds indexes of tables that have rows`,
    )
  }
  const file = {
    name: fileName.replace(/\.sql$/, ''),
    path,
    text,
    checksum: createHash('sha256').update(text).digest('hex'),
    each: where === 'each environment',
  }
  return concurrently === undefined ? file : { ...file, indexes: readIndexes(path, text) }
}

/** All migrations of the folder in the order of their numbers. Throws `MigrationError`. */
export function readMigrations(directory: string = MIGRATIONS): readonly MigrationFile[] {
  const files = readdirSync(directory)
    .filter((fileName) => fileName.endsWith('.sql') && !fileName.startsWith('.'))
    .toSorted()
    .map((fileName) => readFile(directory, fileName))
  const twice = files.find((file, index) => file.name.slice(0, 4) === files[index + 1]?.name.slice(0, 4))
  if (twice)
    throw new MigrationError(`${twice.path}: another file has the number ${twice.name.slice(0, 4)} too`)
  return files
}

/**
 * Refuses files that changed after they were applied, and new ones from before them: databases made before and after
 * would differ for ever.
 */
export function checkApplied(files: readonly MigrationFile[], { applied, begun }: MigrationProgress): void {
  const last = files.findLast(({ name }) => applied.has(name))?.name ?? ''
  for (const file of files) {
    const checksum = applied.get(file.name) ?? begun.get(file.name)
    if (checksum === undefined && file.name < last) {
      throw new MigrationError(
        `${file.path}: would have come before ${last}, which was applied: give it a later number`,
      )
    }
    if (checksum === undefined || checksum === file.checksum) continue
    throw new MigrationError(
      `${file.path}: was applied to this database and edited since (${checksum.slice(0, 12)} then, ${file.checksum.slice(0, 12)} now). ` +
        'Restore it and put the change into a new file.',
    )
  }
}
