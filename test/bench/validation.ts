/**
 * `npm run bench:validation`: the checks beside ajv compiled at run time and express-openapi-validator on the same
 * bodies in one process, the size of all versions beside the newest alone, and the price of refusing a megabyte.
 *
 * Options: --rounds N (15, of which the best counts), --operations N (12, of which bodies are checked).
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Body } from 'dateline/runtime'
import { current, versions } from '../../generated/versions.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'
import { explain } from '../../generators/runtime/explain.ts'
import { createRandom, valueNear } from '../emit/values.ts'
import { openContractValidator } from '../support/contract-validator.ts'
import { makeShapes, prepareShapes } from './shapes.ts'

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, operations: { type: 'string', default: '12' } },
})
const [ROUNDS, OPERATIONS] = [Number(options.rounds), Number(options.operations)]

type Json = Record<string, unknown>

const print = (line = '') => void process.stdout.write(`${line}\n`)
/** The fastest of all rounds: what others do on the machine only ever adds. */
const best = (numbers: readonly number[]) => Math.min(...numbers)

/** @returns the newest version. */
function printSizes(): Api {
  const report = createReport()
  const files = readdirSync('openapi')
    .filter((name) => name.endsWith('.yaml'))
    .sort()
  const apis = files.map((name) => buildApi(loadDocument(`openapi/${name}`, report)!, report))
  const size = (some: typeof apis) =>
    emitValidators(some).find((file) => file.path === 'validators.js')!.text.length
  const [all, newest] = [size(apis), size(apis.slice(-1))]
  print(
    `size of validators: all ${apis.length} versions ${all}, newest alone ${newest}: ${(all / newest).toFixed(2)} × (at most 1.30)`,
  )
  return apis.at(-1)!
}

interface Case {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly validate: (value: unknown) => boolean
  readonly pointer: string
}

/** Operations of the newest version with a body, each with the first made-up one that fits. */
function casesOf(api: Api): Case[] {
  const { operations } = versions.find((version) => version.name === current)!
  const random = createRandom(1)
  return operations.flatMap(({ id, method, path, body }): Case[] => {
    const schema = api.operations.find((each) => each.id === id)?.body?.contents[0]?.schema
    if (!body || !schema) return []
    for (let round = 0; round < 200; round++) {
      const made = valueNear(schema, api, random, 0)
      if (body.validate(made) && JSON.stringify(made).length > 60)
        return [{ id, method, path, body: made, validate: wholeJudge(body), pointer: body.pointer }]
    }
    return []
  })
}

/** A batch's items are checked one by one: both count. */
function wholeJudge({ validate, each }: Body): Case['validate'] {
  if (!each) return validate
  return (value) => {
    const items = (value as Readonly<Record<string, readonly unknown[]>>)[each.property] ?? []
    return validate(value) && items.every((item) => each.validate(item))
  }
}

/** Nanoseconds a call: the best of all rounds. */
function timeOf(call: () => unknown, calls: number): number {
  for (let n = 0; n < calls; n++) call()
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = performance.now()
    for (let n = 0; n < calls; n++) call()
    return ((performance.now() - start) * 1e6) / calls
  })
  return best(rounds)
}

/** The same for something that answers later. */
async function timeOfLater(call: () => Promise<unknown>, calls: number): Promise<number> {
  const rounds: number[] = []
  for (let round = 0; round < 4; round++) {
    const start = performance.now()
    for (let n = 0; n < calls; n++) await call()
    rounds.push(((performance.now() - start) * 1e6) / calls)
  }
  return best(rounds)
}

async function printSpeed(api: Api): Promise<void> {
  const { document } = api
  const ajv = new Ajv2020({ strict: false, validateFormats: true, validateSchema: false })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: 'document:' })
  const cases = casesOf(api).slice(0, OPERATIONS)
  const paths = Object.fromEntries(cases.map(({ path }) => [path, (document.paths as Json)[path]]))
  const checkRequest = await openContractValidator({ ...document, paths, webhooks: {} })
  print('\nns a body                      ours   ajv at run time   express-openapi-validator')
  const sums = [0, 0, 0]
  for (const each of cases) {
    const check = ajv.compile({
      $ref: `document:#${each.pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}`,
    })
    const target = each.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => sampleId(name))
    const headers = {
      'content-type': 'application/json',
      'idempotency-key': '0190d5c2-7d3f-4c3a-8b5e-0123456789ab',
      'content-length': '1',
    }
    const request = { method: each.method, target, headers, body: each.body }
    const ours = timeOf(() => each.validate(each.body), 20_000)
    const theirs = timeOf(() => check(each.body), 20_000)
    const whole = await timeOfLater(() => checkRequest(request), 150)
    for (const [index, time] of [ours, theirs, whole].entries()) sums[index] = sums[index]! + time
    print(
      `${each.id.padEnd(26)}${ours.toFixed(0).padStart(9)}${theirs.toFixed(0).padStart(18)}${whole.toFixed(0).padStart(28)}`,
    )
  }
  const [ours = 1, theirs = 0, whole = 0] = sums
  print(
    `ajv at run time takes ${(theirs / ours).toFixed(2)} × as long (at least 1), the middleware ${(whole / ours).toFixed(0)} × (at least 5)`,
  )
}

function sampleId(name: string): string {
  const prefixes: Record<string, string> = {
    pass_id: 'pass',
    template_id: 'tmpl',
    pass_template_id: 'tmpl',
    card_id: 'card',
  }
  return `${prefixes[name] ?? name.replace(/_id$/, '')}_01hzzzzzzzzzzzzzzzzzzzzzzz`
}

const formats = Object.fromEntries(
  Object.entries(fullFormats).flatMap(([name, format]) => {
    if (format instanceof RegExp) return [[name, (text: string) => format.test(text)]]
    if (typeof format === 'function') return [[name, format as (text: string) => boolean]]
    const check = (format as { validate?: unknown }).validate
    return typeof check === 'function' ? [[name, check as (text: string) => boolean]] : []
  }),
)

/** What it takes to refuse a body: parsing beside checking and explaining, in milliseconds. */
function timeRefusal(text: string, check: (body: unknown) => boolean, faultsOf: (body: unknown) => number) {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now()
    const body: unknown = JSON.parse(text)
    const parsed = performance.now()
    const fits = check(body)
    const checked = performance.now()
    if (fits || faultsOf(body) === 0) throw new Error(`not refused: ${text.slice(0, 200)}`)
    return [parsed - start, checked - parsed, performance.now() - checked]
  })
  return [0, 1, 2].map((index) => best(times.map((each) => each[index]!)))
}

function printRefusal(name: string, [parse = 0, check = 0, explained = 0]: readonly number[]): void {
  const cells = [parse, check, explained, check + explained].map((time) => time.toFixed(2).padStart(10))
  print(`${name.padEnd(50)}${cells.join('')}`)
}

async function printRefusals(api: Api): Promise<void> {
  print(
    '\nms to refuse a body of a megabyte                      parse     check   explain   check + explain (at most 10)',
  )
  printOwn(api)
  const prepared = await prepareShapes(formats)
  for (const shape of makeShapes()) {
    const times = timeRefusal(
      shape.text ?? JSON.stringify(shape.body),
      (body) => prepared.check({ ...shape, body }),
      (body) => prepared.explain({ ...shape, body }).length,
    )
    printRefusal(shape.name, times)
  }
}

/** The dearest of the service's own operations, each given its own body with every part blown up. */
function printOwn(api: Api): void {
  const refusals = casesOf(api)
    .slice(0, OPERATIONS)
    .flatMap(({ id, body, validate, pointer }) =>
      hostile(body as Json).flatMap(([how, value]) => {
        if (validate(value)) return []
        const faultsOf = (each: unknown) => explain(api.document, pointer, each, formats).length
        return [{ name: `${id}: ${how}`, times: timeRefusal(JSON.stringify(value), validate, faultsOf) }]
      }),
    )
  refusals.sort((a, b) => sum(b.times) - sum(a.times))
  print(`of ${refusals.length} hostile bodies for operations of the service the three dearest:`)
  for (const { name, times } of refusals.slice(0, 3)) printRefusal(name, times)
}

const sum = ([, check = 0, explained = 0]: readonly number[]) => check + explained

function hostile(body: Json): [string, unknown][] {
  const unknown = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, index]))
  const blown = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value === 'string')
      return [[`a long ${name}`, { ...body, [name]: value.repeat(50_000).slice(0, 1_000_000) }]]
    if (Array.isArray(value))
      return [[`a long list ${name}`, { ...body, [name]: Array(20_000).fill(value[0] ?? 'x') }]]
    return typeof value === 'object' && value !== null
      ? [[`60,000 members in ${name}`, { ...body, [name]: { ...value, ...unknown } }]]
      : []
  })
  return [['60,000 unknown members', { ...body, ...unknown }], ...blown]
}

const newest = printSizes()
await printSpeed(newest)
await printRefusals(newest)
