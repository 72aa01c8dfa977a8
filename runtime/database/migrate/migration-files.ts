import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One SQL file of the migrations folder. */
export interface MigrationFile {
  /** For example, `0002_passes`. */
  readonly name: string
  readonly path: string
  readonly text: string
  /** Hex SHA-256 of the text, with CRLF normalized to LF. */
  readonly checksum: string
  /** Whether the file runs once in each environment, with its search_path, or only once. */
  readonly each: boolean
  /**
   * Statements of a file with a `concurrently` header. Such a file holds nothing else and runs outside transactions.
   */
  readonly indexes?: readonly IndexStatement[]
}

/** A parsed CREATE INDEX or DROP INDEX, which can run concurrently and partition by partition. */
export interface IndexStatement {
  readonly line: number
  readonly name: string
  /** Absent for DROP INDEX. */
  readonly on?: {
    readonly unique: boolean
    readonly table: string
    /** Text after the table name: columns and options. */
    readonly definition: string
  }
}

/** A migration that cannot run or contradicts applied migrations. The message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

/** Files applied to a database: name to checksum. */
export interface MigrationProgress {
  readonly applied: ReadonlyMap<string, string>
  /** Index files that are only partly built. */
  readonly begun: ReadonlyMap<string, string>
}

export const MIGRATIONS = join(import.meta.dirname, '../migrations')

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/

const HEADER = /^-- (once: control|each environment)(, concurrently)?$/

const INDEX_STATEMENT =
  /^(?:CREATE\s+(?<unique>UNIQUE\s+)?INDEX\s+(?<name>\w+)\s+ON\s+(?<table>\w+)\s*(?<definition>USING\b.+|\(.+)|DROP\s+INDEX\s+(?<dropped>\w+))$/is

/**
 * Splits at every semicolon. A semicolon inside a literal leaves pieces that no pattern matches, and the file is
 * rejected.
 */
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
    throw new MigrationError(`${path}: the file name must have the form NNNN_words_like_this.sql`)
  }
  const text = readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
  const [, where, concurrently] = HEADER.exec(text.slice(0, text.indexOf('\n')).trim()) ?? []
  if (where === undefined) {
    throw new MigrationError(
      `${path}:1: the first line must be "-- once: control" or "-- each environment", followed by ", concurrently" if the file builds indexes of tables that have rows`,
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

/** Returns all migrations of the folder, ordered by number. Throws `MigrationError`. */
export function readMigrations(directory: string = MIGRATIONS): readonly MigrationFile[] {
  const files = readdirSync(directory)
    .filter((fileName) => fileName.endsWith('.sql') && !fileName.startsWith('.'))
    .toSorted()
    .map((fileName) => readFile(directory, fileName))
  const twice = files.find((file, index) => file.name.slice(0, 4) === files[index + 1]?.name.slice(0, 4))
  if (twice)
    throw new MigrationError(
      `${twice.path}: a different file also has the number ${twice.name.slice(0, 4)}: give one of them a new number`,
    )
  return files
}

/**
 * Rejects files that changed after they were applied, and new files numbered before an applied one. Otherwise,
 * databases created before and after the change would differ permanently.
 */
export function checkApplied(files: readonly MigrationFile[], { applied, begun }: MigrationProgress): void {
  const last = files.findLast(({ name }) => applied.has(name))?.name ?? ''
  for (const file of files) {
    const checksum = applied.get(file.name) ?? begun.get(file.name)
    if (checksum === undefined && file.name < last) {
      throw new MigrationError(
        `${file.path}: its number is lower than that of ${last}, which is already applied: give it a higher number`,
      )
    }
    if (checksum === undefined || checksum === file.checksum) continue
    throw new MigrationError(
      `${file.path}: was edited after it was applied to this database (checksum ${checksum.slice(0, 12)} then, ${file.checksum.slice(0, 12)} now). ` +
        'Restore the file and put the change in a new one.',
    )
  }
}
