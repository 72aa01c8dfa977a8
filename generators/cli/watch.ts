/** `watch`: regenerates when a document or a change is saved. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, type FSWatcher, readdirSync, readFileSync, watch as watchFolder } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findParts } from '../document/parts.ts'
import type { Config } from '../generate/config.ts'
import { type CommandOutcome, type CommandRun, OK } from './run.ts'

/**
 * Generates once.
 *
 * @returns the exit code.
 */
export type Generate = () => Promise<number>

/**
 * Generates once, then after every change of the inputs until the signal aborts. All changes during a run lead to
 * one more run. A run is skipped if its inputs are those of the previous run.
 */
export async function watch(
  run: CommandRun,
  signal: AbortSignal,
  generate: Generate = inProcessOfItsOwn(run),
): Promise<CommandOutcome> {
  let runs = 0
  let last: string | undefined
  let wanted = true
  let wake: () => void = () => undefined
  const wakeUp = () => {
    wanted = true
    wake()
  }
  const watchers = new Map<string, FSWatcher>()
  const watchAll = () => {
    for (const folder of foldersOf(run))
      if (!watchers.has(folder)) watchers.set(folder, watchFolder(folder, { recursive: true }, wakeUp))
  }
  watchAll()
  signal.addEventListener('abort', wakeUp)
  try {
    while (!signal.aborted) {
      const next = new Promise<void>((resolve) => {
        wake = resolve
      })
      if (!wanted) await next
      wanted = false
      // An edit can refer to a file in a folder that is not watched yet.
      watchAll()
      const inputs = hashOf(run)
      if (signal.aborted || inputs === last) continue
      last = inputs
      runs++
      await generate()
      run.terminal.out(`watching ${[...watchers.keys()].join(', ')}`)
    }
  } finally {
    for (const watcher of watchers.values()) watcher.close()
    signal.removeEventListener('abort', wakeUp)
  }
  return { lines: [], data: { runs }, exit: OK }
}

/** Generates in a new process, because Node caches imported modules and would not see edited changes. */
function inProcessOfItsOwn({ file, terminal }: CommandRun): Generate {
  const cli = fileURLToPath(new URL('../cli.ts', import.meta.url))
  return async () => {
    const child = spawn(process.execPath, [cli, '--config', file, 'generate'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = { out: '', error: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.error += text))
    const [code] = (await once(child, 'close')) as [number | null]
    if (said.out !== '') terminal.out(said.out.trimEnd())
    if (said.error !== '') terminal.error(said.error.trimEnd())
    return code ?? 1
  }
}

function foldersOf({ config }: CommandRun): string[] {
  const all = [
    ...[...sourcesOf(config), ...findParts(sourcesOf(config), config.remoteReferences)].map(dirname),
    ...[config.versions, config.pages].filter((each) => each !== undefined),
  ]
  return [...new Set(all)].filter((folder) => existsSync(folder))
}

const sourcesOf = ({ documents, overlays = [] }: Config): readonly string[] => [...documents, ...overlays]

/** Returns a hash of everything that a run would read. */
function hashOf({ config, file }: CommandRun): string {
  const hash = createHash('sha256')
  const changes = config.versions === undefined ? [] : filesBelow(config.versions)
  const pages = config.pages === undefined ? [] : filesBelow(config.pages)
  const documents = documentsNow(sourcesOf(config))
  const parts = findParts(documents, config.remoteReferences)
  for (const each of [file, ...documents, ...parts, ...changes, ...pages]) {
    if (existsSync(each)) hash.update(each).update('\0').update(readFileSync(each)).update('\0')
  }
  return hash.digest('hex')
}

/** Returns the documents known at the start, and new ones in the same folders. */
function documentsNow(documents: readonly string[]): string[] {
  const folders = [...new Set(documents.map(dirname))].filter((folder) => existsSync(folder))
  const found = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(ya?ml|json)$/.test(name))
      .map((name) => join(folder, name)),
  )
  return [...new Set([...documents, ...found])].sort()
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}
