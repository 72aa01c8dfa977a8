/** dateline beside other generators on the same documents, in rounds: time, memory, and how long the clients compile. */
import { globSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { Execute, Run } from './toolkit-family.ts'

const PEERS = ['openapi-typescript', 'hey-api', 'orval'] as const
const COMPILE = [
  ...['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--module', 'preserve'],
  ...['--target', 'es2023', '--lib', 'es2023,dom,dom.iterable', '--types', 'node'],
]

/**
 * Prints the median of each program's runs.
 *
 * @param scratch an empty folder.
 * @param documents a folder of documents, and nothing else.
 */
export async function measureBeside(
  scratch: string,
  documents: string,
  rounds: number,
  execute: Execute,
  print: (name: string, run: Run) => void,
): Promise<void> {
  symlinkSync(resolve('node_modules'), join(scratch, 'node_modules'))
  const client = { package: { name: 'client', version: '1.0.0' } }
  const configure = (name: string, emit: object) => {
    const folder = join(scratch, name)
    mkdirSync(folder)
    const config = { documents: resolve(documents), out: './out', client, strict: false, ...emit }
    writeFileSync(join(folder, 'dateline.config.json'), JSON.stringify(config))
    return async () => {
      rmSync(join(folder, 'out'), { recursive: true, force: true })
      return execute('generators/cli.ts', ['generate'], { cwd: folder, status: 0, cache: false })
    }
  }
  const peer = (name: string) => () =>
    execute('test/bench/toolkit-peers.ts', [name, resolve(documents), join(scratch, name)], {
      cwd: scratch,
      status: 0,
    })
  const newest = readdirSync(documents).sort().at(-1)!
  const compile = (name: string, folder: () => string) => () =>
    execute('node_modules/typescript/bin/tsc', [...COMPILE, join(folder(), 'index.ts')], {
      cwd: join(scratch, name),
      status: 0,
    })
  // Named after the version, which the name of the document need not be.
  const newestClient = () =>
    globSync(join(scratch, 'dateline/out/client/src/*/functions.ts')).map(dirname).sort().at(-1)!
  const programs: [string, () => Promise<Run>][] = [
    ['dateline, types and client', configure('dateline', { emit: ['types', 'client'] })],
    ['dateline, everything', configure('everything', {})],
    ...PEERS.map((name): [string, () => Promise<Run>] => [name, peer(name)]),
    ['tsc over the client of dateline', compile('dateline', newestClient)],
    ['tsc over the client of hey-api', compile('hey-api', () => basename(newest, extname(newest)))],
  ]
  const runs = new Map<string, Run[]>(programs.map(([name]) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const [name, run] of programs) runs.get(name)!.push(await run())
  for (const [name, all] of runs) print(name, medianOf(all))
}

function medianOf(runs: readonly Run[]): Run {
  const middle = (of: (run: Run) => number) => runs.map(of).sort((a, b) => a - b)[runs.length >> 1]!
  return {
    wall: middle((run) => run.wall),
    processor: middle((run) => run.processor),
    memory: middle((run) => run.memory),
  }
}
