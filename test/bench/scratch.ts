/** Where a bench works: outside the checkout, and what it made is gone at its end, at that of an interruption too. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Exit codes of a process that a signal ended: 128 and the signal's number. */
const INTERRUPTIONS = { SIGINT: 130, SIGTERM: 143 } as const

export interface Scratch {
  /** Empty, and of this run alone. */
  readonly directory: string
  /** Called at the end, the last first. What is still being made is waited for there. */
  atEnd(end: () => unknown): void
  /** Ends with the bench. */
  own(child: ChildProcess): void
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

/** Runs a bench; the process ends with it, whatever of an interrupted one is still under way. */
export async function withScratch(work: (scratch: Scratch) => Promise<void>): Promise<never> {
  const ends: (() => unknown)[] = []
  const interrupted = new Promise<number>((resolve) => {
    for (const [signal, code] of Object.entries(INTERRUPTIONS)) {
      process.on(signal, () => {
        // Connections break under what has not ended yet.
        process.on('unhandledRejection', () => {})
        resolve(code)
      })
    }
  })
  // After that: a signal before it is told of would leave the folder behind.
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  chmodSync(directory, 0o711) // for the database's user, when root runs the bench
  const atEnd: Scratch['atEnd'] = (end) => void ends.push(end)
  let code = 1
  try {
    const done = work({ directory, atEnd, own: (child) => atEnd(() => stop(child)) }).then(() => 0)
    code = await Promise.race([done, interrupted])
  } catch (error) {
    console.error(error)
  }
  // What an interrupted one still begins adds to them meanwhile.
  for (let end = ends.pop(); end; end = ends.pop()) await end()
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  process.exit(code)
}
