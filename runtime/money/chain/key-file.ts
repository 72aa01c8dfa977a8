import { readFileSync, statSync } from 'node:fs'
import { messageOf } from '../../database/errors.ts'

/** File mode bits of users other than the owner. */
const OTHERS = 0o077

/** Reads a private key from a file that only its owner can read. Errors describe the problem without showing the content. */
export function readKeyFile(path: string): string {
  const problem = (words: string) => new Error(`SVC_PAYOUT_KEY_FILE: ${path} ${words}`)
  let text: string
  try {
    const { mode } = statSync(path)
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw problem(
        `is readable by other users (mode ${(mode & 0o777).toString(8).padStart(4, '0')}): run chmod 600`,
      )
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (messageOf(error).startsWith('SVC_PAYOUT_KEY_FILE')) throw error
    throw problem(`cannot be read: ${messageOf(error)}`)
  }
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(text))
    throw problem('does not contain a private key: expected 64 hexadecimal digits')
  return text
}
