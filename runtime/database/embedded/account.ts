import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { codeOf } from '../errors.ts'

/** The user whose rights the server runs with: PostgreSQL refuses to run as root. */
export interface OsAccount {
  readonly uid: number
  readonly gid: number
}

/** Unprivileged users that systems have, best first. initdb needs one that has a name. */
const CANDIDATES = ['nobody', 'postgres', 'daemon', 'www-data']

const isRoot = () => process.getuid?.() === 0

/** The account for the server; undefined means the user of this process, which is right unless that is root. */
export function serverAccount(): OsAccount | undefined {
  if (!isRoot()) return undefined
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const candidate of CANDIDATES) {
    const [, , uid, gid] = users.find(([name]) => name === candidate) ?? []
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    `PostgreSQL does not run as root, and none of the users ${CANDIDATES.join(', ')} exists: ` +
      'start as another user, or set DATABASE_URL',
  )
}

/** The account that owns existing data, so that root can go on with data that another user made. */
export function ownerOf(data: string): OsAccount | undefined {
  const found = statSync(data, { throwIfNoEntry: false })
  if (!found) throw new Error(`${data} is gone: bring it back, or remove the data directory to start afresh`)
  if (!isRoot()) return undefined
  if (found.uid !== 0) return { uid: found.uid, gid: found.gid }
  throw new Error(
    `${data} belongs to root, as whom PostgreSQL does not run: give it to another user (chown -R)`,
  )
}

/** Options for child processes that run as the account. */
export function asAccount(account: OsAccount | undefined): { cwd: string; uid?: number; gid?: number } {
  return { cwd: '/', ...account }
}

/** Whether the account can use a directory. Asked as that account: modes, access lists and mounts all count. */
export function canEnter(account: OsAccount | undefined, directory: string): boolean {
  if (account === undefined) return true
  const { status, error } = spawnSync('test', ['-x', directory], asAccount(account))
  // Without a `test` program nothing is known; the start itself fails if the directory is closed.
  return codeOf(error) === 'ENOENT' || status === 0
}

/** Whether the account can run a program, libraries included. */
export function canRun(account: OsAccount | undefined, program: string): boolean {
  return account === undefined || spawnSync(program, ['--version'], asAccount(account)).status === 0
}
