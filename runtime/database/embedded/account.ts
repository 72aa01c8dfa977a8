import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { codeOf } from '../errors.ts'

/** Whose rights the server runs with: PostgreSQL refuses to run as root. */
export interface OsAccount {
  readonly uid: number
  readonly gid: number
}

/** Unprivileged users that systems have, best first. initdb wants one that has a name. */
const CANDIDATES = ['nobody', 'postgres', 'daemon', 'www-data']

function readAccounts(): ReadonlyMap<string, OsAccount> {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  return new Map(
    lines.map((line) => {
      const [name = '', , uid, gid] = line.split(':')
      return [name, { uid: Number(uid), gid: Number(gid) }]
    }),
  )
}

/** The account for the server; undefined means our own, which is right for everybody but root. */
export function serverAccount(): OsAccount | undefined {
  if (process.getuid?.() !== 0) return undefined
  const accounts = readAccounts()
  const account = CANDIDATES.map((name) => accounts.get(name)).find((found) => found && found.uid > 0)
  if (account) return account
  throw new Error(
    `PostgreSQL does not run as root, and none of the users ${CANDIDATES.join(', ')} exists: ` +
      'start as another user, or set DATABASE_URL',
  )
}

/** The account that owns existing data, so that data made by a user go on when root starts the service. */
export function ownerOf(data: string): OsAccount | undefined {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = statSync(data)
  if (uid !== 0) return { uid, gid }
  throw new Error(
    `${data} belongs to root, as whom PostgreSQL does not run: give it to another user (chown -R)`,
  )
}

/** Options for child processes that run as the account. */
export function asAccount(account: OsAccount | undefined): { cwd: string; uid?: number; gid?: number } {
  return account === undefined ? { cwd: '/' } : { cwd: '/', uid: account.uid, gid: account.gid }
}

/** Whether the account can use a directory, asked as that account: modes, access lists and mounts all count. */
export function canEnter(account: OsAccount | undefined, directory: string): boolean {
  if (account === undefined) return true
  const { status, error } = spawnSync('test', ['-x', directory], asAccount(account))
  // Without a `test` program nothing is known; the start itself will tell.
  return codeOf(error) === 'ENOENT' || status === 0
}

/** Whether the account can run a program, libraries included. */
export function canRun(account: OsAccount | undefined, program: string): boolean {
  if (account === undefined) return true
  return spawnSync(program, ['--version'], asAccount(account)).status === 0
}
