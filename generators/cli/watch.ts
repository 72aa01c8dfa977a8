/** `watch`: regenerates when a document or a change is saved. */
import { createHash } from 'node:crypto'
import { existsSync, type FSWatcher, readdirSync, readFileSync, watch as watchFolder } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { findParts } from '../document/parts.ts'
import type { Config } from '../generate/config.ts'
import { type CommandOutcome, type CommandRun, OK, type Terminal } from './run.ts'

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
export async function watch(run: CommandRun, signal: AbortSignal, given?: Generate): Promise<CommandOutcome> {
  const warm = inWarmThread(run)
  const generate = given ?? warm.generate
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
    await warm.stop()
  }
  return { lines: [], data: { runs }, exit: OK }
}

export interface WatchWorkerData {
  /** URL of the command's module, which the thread runs. */
  readonly cli: string
  readonly file: string
  readonly colours: boolean
}

/** A line for the terminal, or the end of a run. */
export type WatchMessage =
  | { readonly kind: 'out' | 'error'; readonly line: string }
  | { readonly kind: 'end'; readonly exit: number; readonly bytes: number }

/** Resident memory of this process from which the next run starts in a new thread. */
const MAX_BYTES = 1_500_000_000

/**
 * Generates in a thread that stays loaded, because loading modules takes longer than generating. A new thread replaces it
 * if a change or the configuration was edited, because Node caches imported modules, or if it takes too much memory.
 */
function inWarmThread(run: CommandRun): WarmGenerate {
  const { file, terminal } = run
  const cli = new URL('../cli.ts', import.meta.url).href
  const workerData: WatchWorkerData = { cli, file, colours: terminal.colours === true }
  let worker: Worker | undefined
  let code = ''
  const stop = async () => {
    const last = worker
    worker = undefined
    await last?.terminate()
  }
  return {
    stop,
    async generate() {
      const now = hashOfCode(run)
      if (now !== code) await stop()
      code = now
      worker ??= new Worker(new URL('./watch-worker.ts', import.meta.url), { workerData })
      const { exit, bytes } = await runIn(worker, terminal)
      if (bytes > MAX_BYTES) await stop()
      return exit
    },
  }
}

interface WarmGenerate {
  readonly generate: Generate
  stop(): Promise<void>
}

/** Performs one run. A thread that fails ends `watch` with its error, which is a bug. */
async function runIn(worker: Worker, terminal: Terminal): Promise<Extract<WatchMessage, { kind: 'end' }>> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: WatchMessage) => {
      if (message.kind !== 'end') return terminal[message.kind](message.line)
      worker.off('message', onMessage).off('error', reject)
      resolve(message)
    }
    worker.on('message', onMessage).on('error', reject)
    worker.postMessage('run')
  })
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
function hashOf(run: CommandRun): string {
  const { config } = run
  const pages = config.pages === undefined ? [] : filesBelow(config.pages)
  const documents = documentsNow(sourcesOf(config))
  const parts = findParts(documents, config.remoteReferences)
  return hashOfFiles([...codeOf(run), ...documents, ...parts, ...pages])
}

/** Returns a hash of the files that a run imports as modules. */
const hashOfCode = (run: CommandRun): string => hashOfFiles(codeOf(run))

const codeOf = ({ config, file }: CommandRun): string[] => [
  file,
  ...(config.versions === undefined ? [] : filesBelow(config.versions)),
]

function hashOfFiles(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const each of files)
    if (existsSync(each)) hash.update(each).update('\0').update(readFileSync(each)).update('\0')
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
