import { createInterface } from 'node:readline/promises'
import { InterruptedError } from './failures.ts'

/** Asks the user a question. Returns undefined at the end of input; rejects with `InterruptedError` on Ctrl-C. */
export type Ask = (question: string) => Promise<string | undefined>

/** Opens questions on stderr. Returns undefined if stdin or stderr is not a terminal. */
export function openAsk(input = process.stdin, output = process.stderr): Ask | undefined {
  if (!input.isTTY || !output.isTTY) return undefined
  return async (question) => {
    const lines = createInterface({ input, output })
    const end = new Promise<undefined>((resolve, reject) => {
      lines.once('close', () => resolve(undefined))
      lines.once('SIGINT', () => reject(new InterruptedError()))
    })
    try {
      return await Promise.race([lines.question(question), end])
    } finally {
      lines.close()
    }
  }
}
