/** Runs Anvil (Foundry), a local EVM chain, as a child process. An npm package contains the program. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Names of Node's `process.arch` values in the package names. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Returns the path of the program. Throws if no package for this platform is installed. */
export function findAnvil(platform: string = process.platform, arch: string = process.arch): string {
  const system = platform === 'win32' ? 'win32' : platform
  const name = `@foundry-rs/anvil-${system}-${ARCHITECTURES[arch] ?? arch}`
  try {
    // The platform package is an optional dependency of @foundry-rs/anvil.
    const own = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
    const folder = dirname(own.resolve(`${name}/package.json`))
    return join(folder, 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (cause) {
    throw new Error(
      `The sandbox test chain cannot start: the package ${name} is not installed. Install it, or set SVC_CHAIN_RPC_URL.`,
      { cause },
    )
  }
}

export interface Anvil {
  readonly url: string
  readonly pid: number
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Matches the line in which anvil reports its port. */
const LISTENING = /Listening on ([\d.]+:\d+)/

/** Start timeout. On an idle machine, anvil starts within 0.1 s. */
const START_MS = 20_000

/** Kills anvil when the pipe to this process closes, so that it also ends if this process is killed. `$0` is the program. */
const GUARD = `exec 3<&0
"$0" "$@" </dev/null & pid=$!
{ cat <&3; kill -9 $pid; } >/dev/null 2>&1 &
exec 3<&- <&-
wait $pid`

/**
 * Timestamp of the first block, in seconds since the epoch. It is fixed, so that every start creates the same first block as
 * in a saved state.
 */
const GENESIS = '1767225600'

/** Starts an empty chain on a free loopback port. It mines one block for each transaction and no others. */
export async function startAnvil(chainId: number): Promise<Anvil> {
  const program = findAnvil()
  // Without pruning, anvil writes old block states to files in the home directory.
  const words = [
    '--host',
    '127.0.0.1',
    '--port',
    '0',
    '--chain-id',
    `${chainId}`,
    '--prune-history',
    '256',
    '--timestamp',
    GENESIS,
  ]
  const [command, args] =
    process.platform === 'win32' ? [program, words] : ['/bin/sh', ['-c', GUARD, program, ...words]]
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { HOME: process.env.HOME ?? '/', PATH: process.env.PATH ?? '/usr/bin:/bin' },
  })
  const ended = once(child, 'exit').then(
    () => {},
    () => {}, // it could not be started: `listening` reports the error
  )
  child.stdin!.on('error', () => {}) // ended already
  const stop = async () => {
    child.stdin!.destroy()
    if (process.platform === 'win32') child.kill('SIGKILL')
    await ended
    child.stdout!.destroy()
  }
  try {
    return { url: `http://${await listening(child)}`, pid: child.pid!, ended, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const timer = setTimeout(
      () => reject(new Error(`anvil did not start within ${START_MS / 1000} s`)),
      START_MS,
    )
    const fail = (words: string) => {
      clearTimeout(timer)
      reject(new Error(`anvil ${words}${text && `: ${text.slice(-500)}`}`))
    }
    child.once('error', (error) => fail(`cannot be started: ${error.message}`))
    child.once('exit', (code) => fail(`exited with code ${code}`))
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part
      const [, place] = LISTENING.exec(text) ?? []
      if (place === undefined) return
      clearTimeout(timer)
      resolve(place)
      // From here on, anvil prints a line for each request. Discard the output.
      child.stdout!.removeAllListeners('data').resume()
    })
  })
}
