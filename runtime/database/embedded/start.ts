import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { asAccount } from './account.ts'
import type { Cluster } from './cluster.ts'
import { findPostmaster, isAlive, lockFileOf, type Postmaster, readLockFile, waitFor } from './postmaster.ts'

/** Server settings, in addition to those that initdb wrote. */
export type ServerParameters = Readonly<Record<string, string>>

const START_TIMEOUT_MS = 60_000

const MAX_LOG_BYTES = 10 * 1024 * 1024

/** PostgreSQL's messages if parts of a killed server still run, or if a different process took the port. */
const WORTH_REPEATING =
  /lock file ".*" already exists|pre-existing shared memory block|Address already in use|could not bind/

/** Returns a port that is free now, the preferred one if possible. */
async function freePort(preferred: number): Promise<number> {
  const probe = createServer().listen(preferred, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch (error) {
    if (preferred === 0) throw error
    return freePort(0)
  }
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

/**
 * Removes the lock file of a dead server if its process ID now belongs to a different process, because PostgreSQL then
 * refuses to start. In all other cases PostgreSQL removes the file itself; only PostgreSQL can tell whether children of
 * the dead server still run.
 */
function removeStaleLock(data: string): void {
  const named = readLockFile(data)
  if (named && isAlive(named.pid) && !findPostmaster(data)) rmSync(lockFileOf(data), { force: true })
}

/** Starts the server once. Returns it when it is ready, or its log output if it failed. */
async function attempt(
  cluster: Cluster,
  dataDir: string,
  parameters: ServerParameters,
  timeoutMs: number,
): Promise<Postmaster | string> {
  const log = join(dataDir, 'postgres.log')
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > MAX_LOG_BYTES) renameSync(log, `${log}.old`)
  const output = openSync(log, 'a', 0o600)
  const before = fstatSync(output).size
  const settings = Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(cluster.programs.postgres, ['-D', cluster.data, ...settings], {
    ...asAccount(cluster.account),
    // Runs in a separate session, so that terminal signals reach only this process, which stops the server at the end.
    detached: true,
    env: {},
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  let hasEnded = false
  child.once('exit', () => {
    hasEnded = true
  })
  await once(child, 'spawn') // throws if the program cannot be run
  child.unref()
  const found = await waitFor(timeoutMs, () => {
    const postmaster = findPostmaster(cluster.data)
    if (postmaster?.pid === child.pid && postmaster?.isReady) return postmaster
    return hasEnded ? 'ended' : undefined
  })
  return typeof found === 'object' ? found : readFileSync(log, 'utf8').slice(before)
}

/**
 * Starts the server and waits until it accepts connections. The caller holds the start lock. Throws with the log output
 * if the server does not start within the timeout.
 *
 * @param preferred the previous port, where the pools of surviving processes reconnect; 0 for any.
 */
export async function startPostmaster(
  cluster: Cluster,
  dataDir: string,
  preferred: number,
  parameters: ServerParameters,
  timeoutMs = START_TIMEOUT_MS,
): Promise<Postmaster> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    removeStaleLock(cluster.data)
    const settings = {
      listen_addresses: '127.0.0.1',
      port: String(await freePort(preferred)),
      unix_socket_directories: '',
      max_connections: '200',
      log_checkpoints: 'off',
      ...parameters,
    }
    const outcome = await attempt(cluster, dataDir, settings, timeoutMs)
    if (typeof outcome !== 'string') return outcome
    if (!WORTH_REPEATING.test(outcome) || performance.now() > deadline) {
      throw new Error(
        `the embedded PostgreSQL does not start:\n${outcome.trim() || 'it wrote nothing to its log before the timeout'}`,
      )
    }
  }
}
