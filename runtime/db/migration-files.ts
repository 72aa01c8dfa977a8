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
}

/** A migration that cannot be run or does not agree with what was run before; the message says what to do. */
export class MigrationError extends Error {
  override name = 'MigrationError'
}

export const MIGRATIONS = join(import.meta.dirname, 'migrations')

const FILE_NAME = /^\d{4}_[a-z0-9_]+\.sql$/

const ONCE = '-- once: control'
const EACH = '-- each environment'

function readFile(directory: string, fileName: string): MigrationFile {
  const path = join(directory, fileName)
  if (!FILE_NAME.test(fileName)) {
    throw new MigrationError(`${path}: is not named NNNN_words_like_this.sql`)
  }
  const text = readFileSync(path, 'utf8').replaceAll('\r\n', '\n')
  const header = text.slice(0, text.indexOf('\n')).trim()
  if (header !== ONCE && header !== EACH) {
    throw new MigrationError(`${path}:1: the first line must be "${ONCE}" or "${EACH}"`)
  }
  const checksum = createHash('sha256').update(text).digest('hex')
  return { name: fileName.replace(/\.sql$/, ''), path, text, checksum, each: header === EACH }
}

/** All migrations of the folder in the order of their numbers. Throws `MigrationError`. */
export function readMigrations(directory: string = MIGRATIONS): readonly MigrationFile[] {
  const files = readdirSync(directory)
    .filter((fileName) => !fileName.startsWith('.'))
    .toSorted()
    .map((fileName) => readFile(directory, fileName))
  const twice = files.find((file, index) => file.name.slice(0, 4) === files[index + 1]?.name.slice(0, 4))
  if (twice)
    throw new MigrationError(`${twice.path}: another file has the number ${twice.name.slice(0, 4)} too`)
  return files
}

/** Refuses files that changed after they were applied: databases made before and after would differ for ever. */
export function checkApplied(files: readonly MigrationFile[], applied: ReadonlyMap<string, string>): void {
  for (const file of files) {
    const checksum = applied.get(file.name)
    if (checksum === undefined || checksum === file.checksum) continue
    throw new MigrationError(
      `${file.path}: was applied to this database and edited since (${checksum.slice(0, 12)} then, ${file.checksum.slice(0, 12)} now). ` +
        'Restore it and put the change into a new file.',
    )
  }
}
