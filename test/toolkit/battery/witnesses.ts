/** Judges every break of the battery, and checks each witness a second time, by ajv instead of the toolkit's validators. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { responseFor } from '../../../generators/diff/answers.ts'
import { diffApis } from '../../../generators/diff/diff.ts'
import { formatLocation } from '../../../generators/diff/difference.ts'
import type { Api } from '../../../generators/ir/model.ts'
import type { WitnessMessage } from '../../../generators/witness/message.ts'
import type { Witness } from '../../../generators/witness/proof.ts'
import { createJudge } from '../../../generators/witness/witness.ts'
import { PAIRS, type Pair, readApi } from './pairs.ts'

export interface Judgment {
  readonly breaks: number
  readonly proven: number
  readonly disproven: readonly string[]
  readonly unproven: readonly string[]
  /** Number of witnesses that ajv checked. */
  readonly checked: number
  /** Witnesses on which ajv disagrees with a version. */
  readonly wrong: readonly string[]
}

export function judgeBattery(pairs: readonly Pair[] = PAIRS): Judgment {
  let [breaks, proven, checked] = [0, 0, 0]
  const [disproven, unproven, wrong]: string[][] = [[], [], []]
  for (const { name, old, next, translated } of pairs) {
    const [a, b] = [readApi(old), readApi(next)]
    const judge = createJudge(a, b)
    for (const difference of diffApis(a, b, { translated })) {
      if (difference.class !== 'breaking') continue
      breaks += 1
      const verdict = judge(difference)
      const told = `${name}: ${difference.code} ${formatLocation(difference.at)}: ${difference.message}`
      if (verdict.kind === 'proven') {
        proven += 1
        // ajv does not decode parameters.
        const isEncoding = difference.code === 'serialization-changed'
        const second = isEncoding ? undefined : checkAgain(verdict.witness)
        if (second !== undefined) checked += 1
        const { message, reason } = verdict.witness
        if (second === false)
          wrong!.push(`${told}: ${JSON.stringify([message.body, ...message.values.values()])}: ${reason}`)
      } else (verdict.kind === 'unproven' ? unproven! : disproven!).push(told)
    }
  }
  return { breaks, proven, disproven: disproven!, unproven: unproven!, checked, wrong: wrong! }
}

/**
 * Returns whether ajv agrees; undefined if the witness has no value with a schema, or if the documents use
 * discriminators, which JSON Schema does not know.
 */
function checkAgain({ message, by, against, reason }: Witness): boolean | undefined {
  const isTagged = ({ document }: Api) => JSON.stringify(document).includes('"discriminator"')
  if (isTagged(by) || isTagged(against)) return undefined
  const [own, other] = [by, against].map((api) =>
    valuesIn(api, message).map(([pointer, value]) => validates(api, pointer, value)),
  )
  if (own!.length === 0 || other!.length === 0) return undefined
  const isRefused = /^(refuses|never sends) it: (?!a body|the \w+ parameter)/.test(reason)
  return own!.every((accepted) => accepted) && (!isRefused || other!.includes(false))
}

/** Returns the body, parameters and headers of a message, with the pointers to their schemas in a document. */
function valuesIn(api: Api, message: WitnessMessage): [pointer: string, value: unknown][] {
  const { body, mediaType, values } = message
  const { contents = [], parameters = [] } = holderOf(api, message) ?? {}
  const content = contents.find((each) => each.mediaType === mediaType)
  const found: [string, unknown][] = [...values].flatMap(([{ in: where, name }, value]) => {
    const same = parameters.find((each) => each.in === where && each.name === name)
    return same ? [[same.schema.place.pointer, value]] : []
  })
  return content && body !== undefined ? [...found, [content.schema.place.pointer, body]] : found
}

function holderOf(api: Api, { operation, status, event }: WitnessMessage) {
  const own = api.operations.find(
    ({ method, path }) => method === operation?.method && path === operation.path,
  )
  if (event !== undefined) {
    const found = [...api.events, ...(own?.callbacks ?? [])].find(({ name }) => name === event)
    return found && { contents: found.body?.contents ?? [], parameters: found.headers }
  }
  if (status === undefined) return own && { contents: own.body?.contents ?? [], parameters: own.parameters }
  const response = own && responseFor(own, status)
  return response && { contents: response.contents, parameters: response.headers }
}

function validates({ document }: Api, pointer: string, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, discriminator: false, logger: false })
  addFormats.default(ajv)
  const isOld = String(document.openapi).startsWith('3.0')
  ajv.addSchema((isOld ? modernize(document) : document) as object, 'document')
  const encoded = pointer.split('/').map(encodeURIComponent).join('/')
  return ajv.validate({ $ref: `document#${encoded}` }, value)
}

/** Rewrites what OpenAPI 3.0 says in its own way as JSON Schema 2020-12 does (Migrating from OpenAPI 3.0 to 3.1.0). */
function modernize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modernize)
  if (typeof value !== 'object' || value === null) return value
  const { nullable, ...rest } = value as Readonly<Record<string, unknown>>
  if (typeof rest.$ref === 'string') return { $ref: rest.$ref }
  const made = Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, modernize(each)]))
  for (const [side, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (made[side] === true) [made[side], made[bound]] = [made[bound], undefined]
    if (made[side] === false || made[side] === undefined) delete made[side]
    if (made[bound] === undefined) delete made[bound]
  }
  return nullable === true ? { anyOf: [made, { type: 'null' }] } : made
}
