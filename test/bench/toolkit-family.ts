/** A made-up family of any size: whole runs of each kind with their memory, beside openapi-typescript alone. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDocument, versionName } from '../toolkit/synthetic.ts'

export interface Run {
  readonly wall: number
  readonly processor: number
  /** Megabytes at most. */
  readonly memory: number
}

/** Runs a script in a process of its own, which must end with a status. */
export type Execute = (
  script: string,
  args: readonly string[],
  options: { cwd: string; status: number; cache?: boolean },
) => Promise<Run>

/** @param folder that is empty. @param megabytes of each document. */
export async function measureFamily(
  folder: string,
  documents: number,
  megabytes: number,
  execute: Execute,
  print: (name: string, run: Run) => void,
): Promise<void> {
  mkdirSync(join(folder, 'openapi'))
  const resources = resourcesFor(megabytes)
  const fileOf = (version: number) => join(folder, 'openapi', `${versionName(version)}.json`)
  for (let version = 0; version < documents; version++)
    writeFileSync(fileOf(version), JSON.stringify(makeDocument({ resources, version }), null, 2))
  const configure = (versions: object) =>
    writeFileSync(
      join(folder, 'dateline.config.json'),
      JSON.stringify({ documents: './openapi', out: './out', ...versions }),
    )
  const run = async (name: string, status = 0) =>
    print(name, await execute('generators/cli.ts', ['generate'], { cwd: folder, status }))
  const alone = ['openapi-typescript', 'openapi', 'types']
  const others = await execute('test/bench/toolkit-peers.ts', alone, { cwd: folder, status: 0 })
  print('openapi-typescript alone', others)
  configure({})
  await run('cold')
  await run('unchanged')
  const newest = fileOf(documents - 1)
  const text = readFileSync(newest, 'utf8')
  writeFileSync(newest, text.replace('"What ', '"What, edited, '))
  await run('one line edited')
  // With a folder of changes a break is an error, and this one has no change.
  writeFileSync(newest, text.replace('"has_more": {', '"has_more_of_them": {'))
  mkdirSync(join(folder, 'versions'))
  configure({ versions: './versions' })
  await run('failing in the gate', 1)
  await run('failing again', 1)
  rmSync(join(folder, '.cache'), { recursive: true })
  await run('failing in the gate, cold', 1)
}

/** How many resources make documents about that large. */
function resourcesFor(megabytes: number): number {
  const sizeOf = (resources: number) =>
    JSON.stringify(makeDocument({ resources, version: 0 }), null, 2).length
  const each = (sizeOf(24) - sizeOf(12)) / 12
  return Math.max(2, Math.round((megabytes * 1e6) / each))
}
