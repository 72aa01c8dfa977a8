/** For programs that read output files that are not committed: builds them before they are read. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type BuiltEmitter, findUnbuilt } from '../output/built.ts'

interface Configured {
  /** Relative to the working directory. */
  readonly out: string
  readonly builtWhenNeeded?: readonly BuiltEmitter[]
}

/**
 * Builds files that are missing or differ from the manifest, in a child process, so that the memory is freed
 * afterwards. If everything is up to date, only compares hashes and loads nothing else of the toolkit. Several
 * processes can do this concurrently: each file is replaced atomically, and all processes write the same content.
 *
 * @param file the configuration file; if it is `dateline.config.json` and does not exist, the module next to it.
 * @param wanted emitters whose files the program reads; by default, all in
 * `builtWhenNeeded`.
 * @throws an error with the output of the failed build, or the findings about the configuration.
 * @example await ensureBuilt(join(root, 'dateline.config.json'))
 */
export async function ensureBuilt(file: string, wanted?: readonly BuiltEmitter[]): Promise<void> {
  const { out, builtWhenNeeded = [] } = await readConfigured(file)
  const emitters = builtWhenNeeded.filter((each) => wanted?.includes(each) ?? true)
  if (findUnbuilt(out, emitters)?.length === 0) return
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

/** Loads only JSON without the rest of the toolkit. */
async function readConfigured(file: string): Promise<Configured> {
  if (file.endsWith('.json') && existsSync(file)) {
    const { out, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Configured
    return { ...rest, out: resolve(dirname(file), out) }
  }
  const [{ findConfig, loadConfig }, { createReport }] = await Promise.all([
    import('../generate/config.ts'),
    import('../diagnostics/diagnostic.ts'),
  ])
  const report = createReport()
  const config = await loadConfig(findConfig(file), report)
  report.finish()
  return config!
}
