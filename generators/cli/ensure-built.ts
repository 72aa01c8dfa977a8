/** For programs that read output files that are not committed: builds them before they are read. */
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
 * Builds files that are missing or differ from the manifest, in a child process, so that the memory is freed
 * afterwards. If everything is up to date, only compares hashes and loads nothing else of the toolkit. Several
 * processes can do this concurrently: each file is replaced atomically, and all processes write the same content.
 *
 * @param file the configuration file. @param wanted emitters whose files the program reads; by default, all in
 * `builtWhenNeeded`. @throws an error with the output of the failed build.
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
  if (code !== 0) throw new Error(`cannot build the files that are not committed:\n${said.trimEnd()}`)
}
