/** Writes clearings and refunds into a file, in place of messages. */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { RunOptions } from './run-scenario.ts'

export interface ClearingFile {
  readonly add: NonNullable<RunOptions['file']>
  /** Ends the file and returns what it has. */
  close(): { readonly lines: number }
}

/** Opens a file, or empties one that exists. */
export function openClearingFile(path: string): ClearingFile {
  const file = openSync(path, 'w', 0o600)
  let lines = 0
  return {
    add: (sent) => {
      lines += 1
      writeSync(file, `${JSON.stringify({ type: sent.kind, ...sent.message })}\n`)
    },
    close: () => {
      closeSync(file)
      return { lines }
    },
  }
}
