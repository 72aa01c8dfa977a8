import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { asAccount } from './account.ts'
import type { Cluster } from './cluster.ts'
import { findPostmaster, isAlive, lockedBy, lockFile, type Postmaster, waitFor } from './postmaster.ts'

/** Settings of the server beside those that initdb wrote. */
export type ServerParameters = Readonly<Record<string, string>>

const START_TIMEOUT_MS = 60_000

const MAX_LOG_BYTES = 10 * 1024 * 1024

/** What PostgreSQL says when another server, or what is left of one, still stands in the way. */
const IN_THE_WAY = /lock file ".*" already exists|pre-existing shared memory block/
const PORT_TAKEN = /Address already in use|could not bind/

/** A port that nobody has at this moment; the preferred one when it is free. */
function freePort(preferred: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error) => (preferred === 0 ? reject(error) : resolve(freePort(0))))
    probe.listen(preferred, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/**
 * A lock file of a dead server whose process id belongs to another process now keeps PostgreSQL from starting. Without
 * such a process PostgreSQL removes the file itself, and knows better than we whether old children still run.
 */
function removeStaleLock(data: string): void {
  const pid = lockedBy(data)
  if (pid !== undefined && isAlive(pid) && !findPostmaster(data)) rmSync(lockFile(data), { force: true })
}

function openLog(dataDir: string): { path: string; fd: number } {
  const path = join(dataDir, 'postgres.log')
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > MAX_LOG_BYTES) renameSync(path, `${path}.old`)
  return { path, fd: openSync(path, 'a', 0o600) }
}

/** One attempt: a server that is ready, or what it said before it gave up. */
async function attempt(
  cluster: Cluster,
  dataDir: string,
  port: number,
  parameters: ServerParameters,
): Promise<Postmaster | string> {
  const log = openLog(dataDir)
  const before = fstatSync(log.fd).size
  const settings = Object.entries({
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '200',
    log_checkpoints: 'off',
    ...parameters,
  })
  const words = ['-D', cluster.data, ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const child = spawn(cluster.programs.postgres, words, {
    ...asAccount(cluster.account),
    // A session of its own: the signals of a terminal are ours to handle, the server's end is ours to decide.
    detached: true,
    env: {},
    stdio: ['ignore', log.fd, log.fd],
  })
  closeSync(log.fd)
  const outcome = await ready(child, cluster.data)
  child.unref()
  return outcome ?? readFileSync(log.path, 'utf8').slice(before)
}

async function ready(child: ChildProcess, data: string): Promise<Postmaster | undefined> {
  let ended = false
  let failure: Error | undefined
  child.once('exit', () => {
    ended = true
  })
  child.once('error', (error) => {
    ended = true
    failure = error
  })
  const found = await waitFor(START_TIMEOUT_MS, () => {
    if (ended) return 'ended'
    const postmaster = findPostmaster(data)
    return postmaster?.pid === child.pid && postmaster?.status === 'ready' ? postmaster : undefined
  })
  if (failure) throw failure
  return found === 'ended' ? undefined : found
}

/**
 * Starts the server and waits until it answers. Belongs under the start lock.
 *
 * @param preferred the port that it had before: pools of processes that outlived it find it again there. 0 for any.
 */
export async function startPostmaster(
  cluster: Cluster,
  dataDir: string,
  preferred: number,
  parameters: ServerParameters,
): Promise<Postmaster> {
  const deadline = performance.now() + START_TIMEOUT_MS
  for (;;) {
    removeStaleLock(cluster.data)
    const outcome = await attempt(cluster, dataDir, await freePort(preferred), parameters)
    if (typeof outcome !== 'string') return outcome
    const again = IN_THE_WAY.test(outcome) || PORT_TAKEN.test(outcome)
    if (!again || performance.now() > deadline) {
      throw new Error(
        `the embedded PostgreSQL does not start:\n${outcome.trim() || 'it said nothing within 60 s'}`,
      )
    }
  }
}
