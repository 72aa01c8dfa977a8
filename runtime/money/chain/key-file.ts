import { readFileSync, statSync } from 'node:fs'
import { messageOf } from '../../database/errors.ts'

/** Bits of others than the owner. */
const OTHERS = 0o077

/**
 * A private key in a file that nobody but its owner can read. Throws what is wrong with the file, and shows nothing of what is
 * in it.
 */
export function readKeyFile(path: string): string {
  const problem = (words: string) => new Error(`SVC_PAYOUT_KEY_FILE: ${path} ${words}`)
  let text: string
  try {
    const { mode } = statSync(path)
    if (process.platform !== 'win32' && (mode & OTHERS) !== 0)
      throw problem(`can be read by others (mode ${(mode & 0o777).toString(8).padStart(4, '0')}): chmod 600`)
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (messageOf(error).startsWith('SVC_PAYOUT_KEY_FILE')) throw error
    throw problem(`cannot be read: ${messageOf(error)}`)
  }
  if (!/^(0x)?[0-9a-fA-F]{64}$/.test(text)) throw problem('holds no private key: 32 bytes in hex are')
  return text
}
