/** Anvil (Foundry) as a child of this process: an EVM chain of our own. Its program comes with its package. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The names that the packages have for Node's `process.arch`. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Where the program is. Throws what to do where the installation has none for this machine. */
export function findAnvil(platform: string = process.platform, arch: string = process.arch): string {
  const system = platform === 'win32' ? 'win32' : platform
  const name = `@foundry-rs/anvil-${system}-${ARCHITECTURES[arch] ?? arch}`
  try {
    // The package for this machine is an optional dependency of the one that is declared.
    const own = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
    const folder = dirname(own.resolve(`${name}/package.json`))
    return join(folder, 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil')
  } catch (cause) {
    throw new Error(`no test chain: the package ${name} is not installed; set SVC_CHAIN_RPC_URL`, { cause })
  }
}

export interface Anvil {
  readonly url: string
  readonly pid: number
  /** Resolves when it has ended, by `stop` or by itself. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Shows the port that it has taken. */
const LISTENING = /Listening on ([\d.]+:\d+)/

/** It is up within 0.1 s on an idle machine. */
const START_MS = 20_000

/**
 * Ends anvil when the pipe to this process is closed: also where this process is killed, which tells nobody.
 * `$0` is the program.
 */
const GUARD = `exec 3<&0
"$0" "$@" </dev/null & pid=$!
{ cat <&3; kill -9 $pid; } >/dev/null 2>&1 &
exec 3<&- <&-
wait $pid`

/** When the first block is of, in seconds since the epoch: every start makes the same one, which a saved state has too. */
const GENESIS = '1767225600'

/** Starts one on a free port of the loopback, with nothing in it. Mines a block for what it is sent, and none else. */
export async function startAnvil(chainId: number): Promise<Anvil> {
  const program = findAnvil()
  // The states of blocks before the last few are kept nowhere, else they go to files in the home directory.
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
    () => {}, // it could not be started: `listening` says so
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
    const timer = setTimeout(() => reject(new Error('anvil does not start')), START_MS)
    const fail = (words: string) => {
      clearTimeout(timer)
      reject(new Error(`anvil ${words}${text && `: ${text.slice(-500)}`}`))
    }
    child.once('error', (error) => fail(`cannot be started: ${error.message}`))
    child.once('exit', (code) => fail(`has ended with code ${code}`))
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part
      const [, place] = LISTENING.exec(text) ?? []
      if (place === undefined) return
      clearTimeout(timer)
      resolve(place)
      // It says a line for each question from here on, which is read and dropped.
      child.stdout!.removeAllListeners('data').resume()
    })
  })
}
