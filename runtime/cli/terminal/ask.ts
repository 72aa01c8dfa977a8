import { createInterface } from 'node:readline/promises'
import { InterruptedError } from './failures.ts'

/** Asks the person at the terminal; undefined where the input ends. Rejects with `InterruptedError`. */
export type Ask = (question: string) => Promise<string | undefined>

/** Questions go to stderr. Undefined where either end is no terminal: there is nobody to ask. */
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
