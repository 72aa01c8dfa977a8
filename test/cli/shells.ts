/** `svc` as its users run it: in a terminal, and between other programs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { ROOT, until } from '../support/programs.ts'

export type Mode = 'pipe' | 'terminal'

export interface Shown {
  readonly code: number | null
  /** In a terminal, what it shows; in a pipe, both outputs, each under its name. */
  readonly text: string
}

export interface Running {
  /** Everything so far, of both outputs. */
  shown(): string
  /** Ctrl-C in a terminal, SIGINT otherwise. */
  interrupt(): void
}

const CTRL_C = '\u0003'

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

function start(mode: Mode, words: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const command = [process.execPath, 'runtime/cli/svc.ts', ...words]
  const options = { cwd: ROOT, env }
  if (mode === 'pipe') return spawn(command[0]!, command.slice(1), options)
  // A real pseudo-terminal: util-linux has one in `script`, which gives the exit code of what ran in it.
  const line = `stty cols 80 rows 24; exec ${command.map(quote).join(' ')}`
  return spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], options)
}

/** @param during what happens while it runs; it is ended, if it has not, when the test is to go on. */
export async function runIn(
  mode: Mode,
  words: readonly string[],
  variables: Readonly<Record<string, string>>,
  during: (running: Running) => Promise<void> = async () => {},
): Promise<Shown> {
  const { PATH = '' } = process.env
  const cache = `${ROOT}/node_modules/.cache/compiled`
  const env = { PATH, TERM: 'xterm', NODE_COMPILE_CACHE: cache, TZ: 'UTC', ...variables }
  const child = start(mode, words, env)
  const outputs = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      outputs[name] += text
    })
  }
  if (mode === 'pipe') child.stdin!.end()
  const closed = once(child, 'close')
  try {
    await during({
      shown: () => outputs.stdout + outputs.stderr,
      interrupt: () => void (mode === 'terminal' ? child.stdin!.write(CTRL_C) : child.kill('SIGINT')),
    })
    await until(
      `${words.join(' ')} to end`,
      () => child.exitCode !== null || child.signalCode !== null,
      30_000,
    )
  } finally {
    child.kill('SIGKILL')
  }
  await closed
  const text =
    mode === 'terminal'
      ? outputs.stdout.replaceAll('\r\n', '\n')
      : `${outputs.stdout}${outputs.stderr && `--- stderr\n${outputs.stderr}`}`
  return { code: child.exitCode, text: text.replaceAll('\u001b', '␛') }
}
