import { spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asAccount, type OsAccount } from './account.ts'
import type { Programs } from './programs.ts'

const INITDB_TIMEOUT_MS = 120_000

const OPTIONS = [
  '--username=postgres',
  '--auth=scram-sha-256',
  '--encoding=UTF8',
  // The same order of texts on every machine, whatever its locale and C library.
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--no-instructions',
]

/**
 * Makes a database cluster in `<place>/data`, owned by the account.
 *
 * @param place an existing directory of ours; opened to others for passing through when there is an account.
 */
export async function initdb(
  programs: Programs,
  account: OsAccount | undefined,
  place: string,
  password: string,
): Promise<void> {
  const data = join(place, 'data')
  const passwordFile = join(place, 'password')
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (account) {
    chmodSync(place, 0o711)
    chownSync(data, account.uid, account.gid)
    chownSync(passwordFile, account.uid, account.gid)
  }
  const words = [`--pgdata=${data}`, `--pwfile=${passwordFile}`, ...OPTIONS]
  const { code, output } = await run(programs.initdb, words, account)
  rmSync(passwordFile)
  if (code !== 0) throw new Error(`initdb failed (${code}) in ${data}:\n${output.trim()}`)
}

function run(
  program: string,
  words: readonly string[],
  account: OsAccount | undefined,
): Promise<{ code: number | string | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, {
      ...asAccount(account),
      env: {},
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: INITDB_TIMEOUT_MS,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code: code ?? signal, output }))
  })
}
