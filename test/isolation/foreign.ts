import type { ServiceOperation } from '../../runtime/api/version-table.ts'
import { createRandom } from '../api/guard/random.ts'
import { type Described, describeRequest, type RequestDocument } from '../api/guard/requests.ts'
import { makeValue, resolve, type Schema } from '../api/guard/values.ts'

/** A request in which `‹prefix›` stands wherever an object is named. */
export interface Shape {
  /** What is named: `path`, `query template_id`, `body`, `cursor`. */
  readonly place: string
  readonly target: string
  readonly body: unknown
}

const ID = /^\^(?:\(\?:(\w+)\|\w+\)|(\w+))_\[0-9a-hjkmnp-tv-z\]\{26\}\$$/

/** Prefix of the identifiers that a schema describes. */
function prefixOf(document: RequestDocument, schema: Schema): string | undefined {
  const { pattern } = resolve(document, schema)
  const match = pattern === undefined ? null : ID.exec(pattern)
  return match?.[1] ?? match?.[2]
}

const holeOf = (prefix: string) => `‹${prefix}›`

const HOLE = /‹(\w+)›/g

/** Fills the holes: by the owner's ids, or by ids of nothing. */
export function fill<T>(value: T, idOf: (prefix: string) => string): T {
  return JSON.parse(JSON.stringify(value).replaceAll(HOLE, (_, prefix: string) => idOf(prefix))) as T
}

/** All prefixes that a shape names. */
export function prefixesOf(shape: Shape): string[] {
  return [...JSON.stringify([shape.target, shape.body ?? null]).matchAll(HOLE)].map(([, prefix]) => prefix!)
}

const VARIANTS = 3

/** Every way in which a request of the operation can name an object: one shape each. */
export function shapesOf(document: RequestDocument, operation: ServiceOperation): Shape[] {
  const described = describeRequest(document, operation)
  const inPath = described.parameters.filter((parameter) => parameter.in === 'path')
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = inPath.find((each) => each.name === name)
    return holeOf((parameter && prefixOf(document, parameter.schema)) ?? 'unknown')
  })
  const bodies = bodiesOf(document, described)
  const required = described.parameters
    .filter((parameter) => parameter.in === 'query' && parameter.required)
    .map(
      ({ name, schema }) =>
        `${name}=${encodeURIComponent(String(makeValue(document, schema, createRandom(1))))}`,
    )
  const withQuery = (...pairs: readonly string[]) =>
    [path, [...required, ...pairs].join('&')].filter(Boolean).join('?')
  const shapes: Shape[] = []
  if (inPath.length > 0) shapes.push({ place: 'path', target: withQuery(), body: bodies[0] })
  for (const body of bodies) {
    if (JSON.stringify(body ?? null).includes('‹')) shapes.push({ place: 'body', target: withQuery(), body })
  }
  for (const parameter of described.parameters.filter((each) => each.in === 'query')) {
    const prefix = prefixOf(document, parameter.schema)
    if (prefix === undefined) continue
    shapes.push({
      place: `query ${parameter.name}`,
      target: withQuery(`${parameter.name}=${holeOf(prefix)}`),
      body: undefined,
    })
  }
  if (operation.extensions.pagination === 'cursor' && inPath.length === 0) {
    for (const name of ['starting_after', 'ending_before']) {
      shapes.push({
        place: `cursor ${name}`,
        target: withQuery(`${name}=${holeOf('cursor')}`),
        body: undefined,
      })
    }
  }
  return shapes
}

function bodiesOf(document: RequestDocument, { body }: Described): unknown[] {
  if (!body) return [undefined]
  return Array.from({ length: VARIANTS }, (_, seed) =>
    punch(makeValue(document, body, createRandom(seed + 1))),
  )
}

/** Every identifier in a body becomes a hole. */
function punch(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/^([a-z]{2,5})_[0-9a-hjkmnp-tv-z]{26}$/, '‹$1›')
  if (Array.isArray(value)) return value.map(punch)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, punch(part)]))
}
