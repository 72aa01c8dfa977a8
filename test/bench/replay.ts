/**
 * `npm run bench:replay`: time and peak memory of `dateline replay` for a million exchanges of this service's API, as a request
 * log and as a HAR file. `-- --exchanges 1000 --callers 10` writes fewer, and `--only har` one of them.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { jsonBody } from '../../generators/ir/bodies.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api, ApiOperation } from '../../generators/ir/model.ts'
import { contentOf, successStatus } from '../../generators/ir/operations.ts'
import { createValueMaker, type ValueMaker } from '../../generators/mock/values.ts'
import { withScratch } from './scratch.ts'

const { values } = parseArgs({
  options: {
    exchanges: { type: 'string', default: '1000000' },
    callers: { type: 'string', default: '1000' },
    only: { type: 'string', default: '' },
  },
})
const [exchanges, callers] = [Number(values.exchanges), Number(values.callers)]

const FROM = '2025-11-01'

/** Different exchanges; the others repeat them with a different caller. */
const VARIANTS = 20

function readApi(): Api {
  const report = createReport()
  const document = loadDocument(`openapi/${FROM}.yaml`, report)
  report.finish()
  return buildApi(document!, report)
}

/** A line of a request log, and an entry of a HAR file, each around the name of the caller. */
interface Variant {
  readonly line: readonly [string, string]
  readonly entry: readonly [string, string]
}

function createVariants(api: Api): readonly Variant[] {
  const variants: Variant[] = []
  for (let seed = 1; seed <= VARIANTS && variants.length < exchanges; seed++) {
    const maker = createValueMaker(api, seed)
    for (const operation of api.operations) variants.push(variantOf(api, operation, maker, seed))
  }
  return variants
}

function variantOf({ version }: Api, operation: ApiOperation, maker: ValueMaker, seed: number): Variant {
  const [body, answer] = [jsonBody(operation), contentOf(operation)]
  const request = body && JSON.stringify(maker.value(body.schema, operation.id))
  const response = answer && JSON.stringify(maker.body(answer, `${operation.id} ${seed}`))
  const { method } = operation
  const target = targetOf(operation, maker)
  const status = successStatus(operation)
  const mimeType = 'application/json'
  return {
    line: around({
      key_id: CALLER,
      method,
      target,
      version,
      status,
      request_body: request ?? null,
      response_body: response ?? null,
    }),
    entry: around({
      request: {
        method,
        url: `https://api.example${target}`,
        headers: [
          { name: 'Authorization', value: CALLER },
          { name: 'Service-Version', value: version },
          { name: 'Idempotency-Key', value: '5f2b1c5e-4b1f-4a7e-9d0c-1f2e3d4c5b6a' },
        ],
        ...(request !== undefined && { postData: { mimeType, text: request } }),
      },
      response: { status, content: { mimeType, text: response ?? '' } },
    }),
  }
}

const CALLER = '(caller)'

function around(row: object): readonly [string, string] {
  const [before, after] = JSON.stringify(row).split(CALLER)
  return [before!, after!]
}

function targetOf({ path, parameters }: ApiOperation, maker: ValueMaker): string {
  const values = new Map(parameters.map(({ name, schema }) => [name, String(maker.value(schema, name))]))
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent(values.get(name) ?? ''),
  )
  const query = parameters.filter(
    (each) => each.in === 'query' && /^(limit|include_archived|status)$/.test(each.name),
  )
  const search = new URLSearchParams(
    Object.fromEntries(query.map(({ name }) => [name, values.get(name) ?? ''])),
  )
  return query.length > 0 ? `${filled}?${search}` : filled
}

async function write(file: string, variants: readonly Variant[], form: keyof Variant): Promise<void> {
  const out = createWriteStream(file)
  if (form === 'entry') out.write('{"log":{"version":"1.2","entries":[')
  for (let index = 0; index < exchanges; index++) {
    const [before, after] = variants[index % variants.length]![form]
    const separator = form === 'line' ? '\n' : index < exchanges - 1 ? ',' : ']}}'
    // Callers advance more slowly than variants, so that each caller sends all of them.
    const caller = Math.floor(index / variants.length) % callers
    if (!out.write(`${before}key_${caller}${after}${separator}`)) await once(out, 'drain')
  }
  out.end()
  await finished(out)
}

interface Measured {
  readonly seconds: number
  /** Only on Linux: seconds of processor time, and the peak of resident memory. */
  readonly processor: number
  readonly megabytes: number
}

async function measure(file: string): Promise<Measured> {
  const began = performance.now()
  const child = spawn(process.execPath, ['generators/cli.ts', 'replay', file, '--from', FROM, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  let last = { processor: 0, megabytes: 0 }
  const timer = setInterval(() => {
    last = readUsage(child.pid!) ?? last
  }, 100)
  const [code] = (await once(child, 'close')) as [number]
  clearInterval(timer)
  const { replayed } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly replayed: number }
  if (replayed !== exchanges)
    throw new Error(`replayed ${replayed} of ${exchanges} exchanges; exit code ${code}`)
  return { seconds: (performance.now() - began) / 1000, ...last }
}

/** Clock ticks in a second (sysconf `_SC_CLK_TCK` of Linux). */
const TICKS = 100

function readUsage(pid: number): Pick<Measured, 'processor' | 'megabytes'> | undefined {
  const [status, stat] = ['status', 'stat'].map((name) => {
    const file = `/proc/${pid}/${name}`
    return existsSync(file) ? readFileSync(file, 'utf8') : ''
  })
  const peak = /VmHWM:\s+(\d+)/.exec(status!)?.[1]
  if (peak === undefined) return undefined
  const [user, system] = stat!.slice(stat!.lastIndexOf(')')).split(' ').slice(12, 14)
  return { processor: (Number(user) + Number(system)) / TICKS, megabytes: Number(peak) / 1024 }
}

await withScratch(async ({ directory }) => {
  const variants = createVariants(readApi())
  for (const [form, name] of [
    ['line', 'traffic.ndjson'],
    ['entry', 'traffic.har'],
  ] as const) {
    if (!name.endsWith(values.only)) continue
    const file = join(directory, name)
    await write(file, variants, form)
    const size = statSync(file).size / 1e6
    const { seconds, processor, megabytes } = await measure(file)
    process.stdout.write(
      `${name}: ${exchanges} exchanges, ${size.toFixed(0)} MB: ${seconds.toFixed(1)} s (90), ${processor.toFixed(1)} s of processor, ${megabytes.toFixed(0)} MB of memory (400)\n`,
    )
    rmSync(file)
  }
})
