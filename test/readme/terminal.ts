/** A person who reads the README: bash, the machine's own Node, a fresh home, a copy of the checkout. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { linkPackages } from '../support/clone.ts'
import { type IsolatedNetwork, openIsolatedNetwork } from '../support/isolated.ts'
import { COMPILED, ROOT, UNHURRIED } from '../support/programs.ts'

/** What a clone does not have, and folders that other tests make and remove meanwhile. */
const isCloned = (path: string) =>
  path === ROOT || !/^(node_modules$|ready\.json$|\.(?!npmrc|gitignore))/.test(basename(path))

/** Installing takes a registry: the dependencies are those of this checkout. `.ci/run` installs them on a clean clone. */
const INSTALLED = 'npm() { if [ "$1" = ci ]; then return 0; fi; command npm "$@"; }\n'

/** What a command says on either stream is shown before what the next one says. */
const IN_ORDER = 'exec 2>&1\n'

/** Ends a command's output, which may lack a line's end: its exit code. */
const MARK = /done:(\d+)\n/

export interface Desk {
  readonly directory: string
  /** A new terminal. */
  open(): Terminal
  close(): Promise<void>
}

export interface Terminal {
  /** Everything that it has shown, errors too. */
  shown(): string
  /** Types a command and waits until it has ended. Throws while one before it, for which nobody waits any more, has not. */
  run(command: string): Promise<{ readonly code: number; readonly output: string }>
  /** Types a command that goes on. */
  start(command: string): void
  /** Ctrl-C, and then waits until the terminal is closed. */
  interrupt(): Promise<void>
}

/**
 * Without what npm adds for a test that it runs: this is a shell of somebody who has just logged in. Node keeps what it compiles
 * with what other tests have it compile: the packages above all, which are the same files.
 */
function environment(home: string, programs: readonly string[]): Record<string, string> {
  const found = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const quick = { NODE_COMPILE_CACHE: COMPILED, ...UNHURRIED }
  return {
    PATH: [...programs, ...found].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...quick,
  }
}

/** What is on a desk before a person sits down. */
export interface DeskSetup {
  /** Fills the folder in which terminals open. */
  prepare(directory: string): void
  /** Typed in by every terminal first. */
  readonly profile: string
  /** Folders of programs, in front of the machine's own. */
  readonly programs: readonly string[]
}

function cloneCheckout(directory: string): void {
  cpSync(ROOT, directory, { recursive: true, filter: isCloned })
  linkPackages(directory, { withCaches: true })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=clone', '-c', 'user.email=clone@example.com', ...words], {
      cwd: directory,
    })
  git('init', '-q')
  git('add', 'openapi')
  git('commit', '-qm', 'The documents')
}

const CLONE: DeskSetup = { prepare: cloneCheckout, profile: INSTALLED, programs: [] }

export async function openDesk({ prepare, profile, programs }: DeskSetup = CLONE): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-readme-'))
  const directory = join(folder, 'dateline')
  const home = join(folder, 'home')
  mkdirSync(directory)
  prepare(directory)
  mkdirSync(home)
  for (const each of [folder, directory]) chmodSync(each, 0o755) // for the database's user, when root runs the tests
  const network = await openIsolatedNetwork()
  const children: ChildProcess[] = []
  return {
    directory,
    open: () =>
      openTerminal(network, children, profile, { cwd: directory, env: environment(home, programs) }),
    close: async () => {
      await Promise.all(children.map(leave))
      await network.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Interrupts the whole group, as a terminal does. */
async function leave(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  process.kill(-child.pid, 'SIGINT')
  child.stdin?.end() // bash goes on with its next line otherwise
  await closed
}

function openTerminal(
  network: IsolatedNetwork,
  children: ChildProcess[],
  profile: string,
  options: { readonly cwd: string; readonly env: Record<string, string> },
): Terminal {
  const [program = '', ...words] = [...network.enter, 'bash', '--noprofile', '--norc']
  const child = spawn(program, words, { ...options, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  let shown = ''
  let looked = () => {}
  let running: string | undefined
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      shown += text
      looked()
    })
  }
  child.once('close', () => looked())
  child.stdin.on('error', () => {}) // `close` follows
  child.stdin.write(IN_ORDER + profile)
  return {
    shown: () => shown,
    run: async (command) => {
      if (running !== undefined) throw new Error(`the terminal is still busy with "${running}"`)
      running = command
      const from = shown.length
      child.stdin.write(`${command}\necho "done:$?"\n`)
      for (;;) {
        const output = shown.slice(from)
        const mark = MARK.exec(output)
        if (mark) {
          running = undefined
          return { code: Number(mark[1]), output: output.replace(mark[0], '').trim() }
        }
        if (child.exitCode !== null) throw new Error(`the terminal closed in "${command}":\n${output}`)
        await new Promise<void>((resolve) => {
          looked = resolve
        })
      }
    },
    start: (command) => void child.stdin.write(`${command}\n`),
    interrupt: () => leave(child),
  }
}
