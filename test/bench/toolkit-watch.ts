/**
 * `npm run bench:watch`: how long `dateline watch` takes from a saved edit of a document to written output, and the
 * memory of its process. `-- --megabytes 1 --edits 8`.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { stringify } from 'yaml'
import { makeDocument } from '../toolkit/synthetic.ts'
import { withScratch } from './scratch.ts'

const { values } = parseArgs({
  options: {
    megabytes: { type: 'string', default: '1' },
    edits: { type: 'string', default: '8' },
  },
})
/** The documentation site, which is the slowest, has its own tests and needs the pages of a project. */
const EMIT = ['types', 'validators', 'routes', 'translations', 'handlers', 'documents']
const MEGABYTE = 1_000_000
const POLL_MS = 2

const print = (line: string) => void process.stdout.write(`${line}\n`)

/** A document in YAML of about a size. */
function documentOf(bytes: number): string {
  const size = stringify(makeDocument({ resources: 6, version: 1 })).length / 6
  return stringify(makeDocument({ resources: Math.max(1, Math.round(bytes / size)), version: 1 }))
}

/** Resident memory of a process, with its threads, in MB. */
const memoryOf = (id: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]) / 1024

await withScratch(async (scratch) => {
  const folder = scratch.directory
  mkdirSync(join(folder, 'openapi'))
  for (const name of ['generators', 'node_modules']) symlinkSync(resolve(name), join(folder, name))
  const config = { documents: './openapi', out: './out', emit: EMIT }
  writeFileSync(join(folder, 'dateline.config.json'), JSON.stringify(config))
  const document = join(folder, 'openapi/2030-01-01.yaml')
  const text = documentOf(Number(values.megabytes) * MEGABYTE)
  writeFileSync(document, text)
  const manifest = join(folder, 'out/manifest.json')
  const writtenAt = () => statSync(manifest, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const untilWritten = async (since: number) => {
    const start = performance.now()
    while (writtenAt() === since) await setTimeout(POLL_MS)
    return performance.now() - start
  }
  const child = spawn(process.execPath, [resolve('generators/cli.ts'), 'watch'], {
    cwd: folder,
    stdio: 'pipe',
  })
  scratch.own(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (each: string) => (said += each))
  const untilWatching = async () => {
    while (!/^watching /m.test(said)) await setTimeout(POLL_MS)
    said = ''
  }
  print(`a document of ${(text.length / MEGABYTE).toFixed(2)} MB, ${EMIT.length} emitters`)
  print(`first run  ${(await untilWritten(0)).toFixed(0).padStart(6)} ms`)
  await untilWatching()
  for (let edit = 1; edit <= Number(values.edits); edit++) {
    const before = writtenAt()
    writeFileSync(document, text.replace('maxLength: 5000', `maxLength: ${5000 + edit}`))
    const elapsed = await untilWritten(before)
    await untilWatching()
    print(
      `edit ${edit}     ${elapsed.toFixed(0).padStart(6)} ms   ${memoryOf(child.pid).toFixed(0).padStart(5)} MB`,
    )
  }
})
