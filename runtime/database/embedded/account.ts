import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { codeOf } from '../errors.ts'

/** The OS user that runs the server. PostgreSQL refuses to run as root. */
export interface OsAccount {
  readonly uid: number
  readonly gid: number
}

/** Unprivileged users that most systems have, in order of preference. initdb requires a user with a name. */
const CANDIDATES = ['nobody', 'postgres', 'daemon', 'www-data']

const isRoot = () => process.getuid?.() === 0

/**
 * Returns the account for the server: undefined unless this process runs as root, because its own user then works.
 * Throws if no candidate exists.
 */
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
      'start the service as a non-root user, or set DATABASE_URL',
  )
}

/** Returns the account that owns existing data, so that root can use a cluster that a different user created. */
export function ownerOf(data: string): OsAccount | undefined {
  const found = statSync(data, { throwIfNoEntry: false })
  if (!found)
    throw new Error(
      `${data} does not exist: restore it, or remove the data directory to start with an empty database`,
    )
  if (!isRoot()) return undefined
  if (found.uid !== 0) return { uid: found.uid, gid: found.gid }
  throw new Error(
    `${data} belongs to root, but PostgreSQL does not run as root: give it to a different user (chown -R)`,
  )
}

/** Options for child processes that run as the account. */
export function asAccount(account: OsAccount | undefined): { cwd: string; uid?: number; gid?: number } {
  return { cwd: '/', ...account }
}

/** Whether the account can enter a directory. Runs `test` as that account, so that modes, ACLs and mounts all count. */
export function canEnter(account: OsAccount | undefined, directory: string): boolean {
  if (account === undefined) return true
  const { status, error } = spawnSync('test', ['-x', directory], asAccount(account))
  // If `test` is missing, assume that the directory is accessible. The start fails if it is not.
  return codeOf(error) === 'ENOENT' || status === 0
}

/** Whether the account can run a program, including its libraries. */
export function canRun(account: OsAccount | undefined, program: string): boolean {
  return account === undefined || spawnSync(program, ['--version'], asAccount(account)).status === 0
}
