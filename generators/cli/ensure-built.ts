/** For a program that reads output which the repository does not hold: it is there once this is awaited. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type BuiltEmitter, findUnbuilt } from '../output/built.ts'

interface Configured {
  readonly out: string
  readonly builtWhenNeeded?: readonly BuiltEmitter[]
}

/**
 * Builds what is missing or not as the manifest says, in a process of its own, which gives its memory back. Where all is
 * there, hashes are compared and nothing of the toolkit is loaded. Several processes may do so at once: each file
 * is replaced whole, and all write the same.
 *
 * @param file of the configuration. @param wanted what the program reads; otherwise everything.
 * @throws an error that says what to do.
 * @example await ensureBuilt(join(root, 'dateline.config.json'))
 */
export async function ensureBuilt(file: string, wanted?: readonly BuiltEmitter[]): Promise<void> {
  const { out, builtWhenNeeded = [] } = JSON.parse(readFileSync(file, 'utf8')) as Configured
  const emitters = builtWhenNeeded.filter((each) => wanted?.includes(each) ?? true)
  if (findUnbuilt(resolve(dirname(file), out), emitters)?.length === 0) return
  const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
  const child = spawn(process.execPath, [cli, '--config', file, 'build', ...emitters], {
    cwd: dirname(file),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise<number | null>((onCode, onError) =>
    child.on('error', onError).on('close', onCode),
  )
  const [said, code] = await Promise.all([text(child.stderr), ended])
  if (code !== 0) throw new Error(`what is not committed could not be built\n${said.trimEnd()}`)
}
