/**
 * What is proven of translations, for every version, operation and event: a valid old request becomes a valid head
 * request; a valid answer or event of the canonical version becomes one that the old document accepts under a closed reading; a field
 * of an error has a name in the old document.
 */

import fc from 'fast-check'
import { isAbout } from '../../generators/change/align.ts'
import { canonicalOperations } from '../../generators/change/canonical.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { responseFor } from '../../generators/diff/answers.ts'
import { jsonBody, validatedArray } from '../../generators/ir/bodies.ts'
import type { Api, ApiOperation, ApiParameter, EventType, Schema } from '../../generators/ir/model.ts'
import { successOf } from '../../generators/ir/operations.ts'
import { isSet } from '../../generators/translate/parameters.ts'
import { answerOf, jsonOf } from '../../generators/translate/transition.ts'
import { arbitrariesOf, type Domains } from '../../generators/values/arbitrary.ts'
import { hasField, type Mismatch, mismatch } from '../../generators/values/closed-reading.ts'
import type { Translate } from './emitted.ts'

/** Where the translations of a version are. */
export interface Tables {
  up(version: string, kind: 'body' | 'item' | 'query', operation: ApiOperation): Translate | undefined
  down(version: string, operation: ApiOperation): Translate | undefined
  /** Of other answers, by status, range or `default`. */
  downs(version: string, operation: ApiOperation): ReadonlyMap<string, Translate | undefined>
  downField(version: string, operation: ApiOperation): ((field: string) => string) | undefined
  downEvent(version: string, event: EventType): Translate | undefined
}

/** One thing that must hold of every value. */
export interface Claim {
  /** `2025-11-01 getDispute answer`. */
  readonly name: string
  readonly values: fc.Arbitrary<unknown>
  /** @returns what is wrong with the value's translation, and the line of the document that says so. */
  check(value: unknown): string | undefined
}

interface Family {
  readonly apis: readonly Api[]
  readonly head: Api
  readonly changes: readonly LoadedChange[]
  readonly domains: Domains
  readonly tables: Tables
}

/** @param apis oldest first. @returns what must hold in every version but the newest. */
export function lawsOf(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  domains: Domains,
  tables: Tables,
): Claim[] {
  const head = apis.at(-1)!
  const family: Family = { apis, head, changes, domains, tables }
  return apis.slice(0, -1).flatMap((api, index) => {
    const later = new Set(apis.slice(index + 1).map((each) => each.version))
    return claimsOfVersion(api, { ...family, changes: changes.filter((change) => later.has(change.version)) })
  })
}

function claimsOfVersion(api: Api, family: Family): Claim[] {
  const { head, tables, apis } = family
  const old = arbitrariesOf({
    api,
    domains: family.domains,
    members: () => undefined,
    preferred: (component) => membersOnlyIn(api, head, component),
    freed: () => undefined,
  })
  const shown = arbitrariesOf(shownTo(api, family))
  const headOf = new Map(canonicalOperations(apis).map((each) => [each.operation.id, each]))
  const claims: Claim[] = []
  const made = new Set<string>()
  /** Operations that answer with the same component through the same function make one claim. */
  const add = (claim: Claim, ...of: readonly (Schema | Translate | undefined)[]) => {
    const key = of.map((each) => (typeof each === 'function' ? each.name : each && nameOf(each))).join(' ')
    if (of.length === 0 || !made.has(key)) claims.push(claim)
    made.add(key)
  }
  for (const operation of api.operations) {
    const { operation: now, api: of } = headOf.get(operation.id)!
    const [answer, canonicalAnswer] = [answerOf(operation), answerOf(now)]
    if (answer && canonicalAnswer) {
      const down = tables.down(api.version, operation)
      const name = `${api.version} ${operation.id} answer`
      add(downClaim(name, shown(canonicalAnswer), down, api, answer), canonicalAnswer, answer, down)
    }
    const downs = tables.downs(api.version, operation)
    for (const { status } of operation.responses.filter((each) => each !== successOf(operation))) {
      const [own, headOwn] = [responseFor(operation, status), responseFor(now, status)]
      const [schema, canonicalSchema] = [own && jsonOf(own), headOwn && jsonOf(headOwn)]
      if (!schema || !canonicalSchema) continue
      const down = [status, `${status[0]}XX`, 'default'].map((each) => downs.get(each)).find((each) => each)
      const name = `${api.version} ${operation.id} ${status}`
      add(downClaim(name, shown(canonicalSchema), down, api, schema), canonicalSchema, schema, down)
    }
    const [body, canonicalBody] = [jsonBody(operation), jsonBody(now)]
    const item = body && validatedArray(api, body.schema)
    const [given, wanted] = item
      ? [item.items, canonicalBody && validatedArray(of, canonicalBody.schema)?.items]
      : [body?.schema, canonicalBody?.schema]
    if (given && wanted) {
      const up = tables.up(api.version, item ? 'item' : 'body', operation)
      add(upClaim(`${api.version} ${operation.id} body`, old(given), up, of, wanted), given, wanted, up)
      const field = tables.downField(api.version, operation)
      const fields = `${api.version} ${operation.id} fields`
      add(fieldClaim(fields, old(given), up, field, api, given), given, up, field)
    }
    if (operation.parameters.some((each) => each.in === 'query'))
      add(queryClaim(api, operation, now, of, old, tables.up(api.version, 'query', operation), family))
  }
  for (const event of api.events) {
    const now = head.events.find((each) => each.name === event.name)
    if (event.payload && now?.payload) {
      const down = tables.downEvent(api.version, event)
      add(
        downClaim(`${api.version} ${event.name}`, shown(now.payload.schema), down, api, event.payload.schema),
      )
    }
  }
  return claims
}

const nameOf = (schema: Schema): string => (schema.kind === 'ref' ? schema.name : schema.place.pointer)

/**
 * Head's values as a version may meet them. A member that joined an extensible enumeration is shown as it is, which
 * the document announces; where a change says otherwise, all members must be dealt with.
 */
function shownTo(api: Api, { head, domains, changes }: Family) {
  const lenses = changes.flatMap((change) => change.lenses)
  return {
    api: head,
    domains,
    preferred: (component: string) => membersOnlyIn(head, api, component),
    members(component: string) {
      const [before, now] = [api.schemas.get(component), head.schemas.get(component)]
      if (before?.kind !== 'enum' || now?.kind !== 'enum' || !before.open) return undefined
      if (lenses.some((lens) => lens.kind === 'values' && lens.schemas.includes(component))) return undefined
      return now.values.filter((value) => before.values.includes(value))
    },
    freed: (component: string, property: string) =>
      lenses.flatMap((lens) =>
        lens.kind === 'leave-out' && lens.schemas.includes(component) && lens.property === property
          ? [lens.unless]
          : [],
      )[0],
  }
}

function membersOnlyIn(api: Api, other: Api, component: string): readonly unknown[] {
  const [own, others] = [api.schemas.get(component), other.schemas.get(component)]
  if (own?.kind !== 'enum' || others?.kind !== 'enum') return []
  return own.values.filter((value) => !others.values.includes(value))
}

/** As it travels: undefined members are gone. */
const sent = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function describe({ place, field, issue }: Mismatch): string {
  return `${place.file}:${place.line} ${field || 'the value'} ${issue}`
}

function downClaim(
  name: string,
  values: fc.Arbitrary<unknown>,
  down: Translate | undefined,
  api: Api,
  schema: Schema,
): Claim {
  return {
    name,
    values,
    check(value) {
      const before = JSON.stringify(value)
      const found = mismatch(api, schema, sent(down ? down(value) : value))
      if (found) return describe(found)
      return JSON.stringify(value) === before ? undefined : 'the value itself was changed on the way down'
    },
  }
}

function upClaim(
  name: string,
  values: fc.Arbitrary<unknown>,
  up: Translate | undefined,
  head: Api,
  schema: Schema,
): Claim {
  return {
    name,
    values,
    check(value) {
      const found = mismatch(head, schema, up ? up(structuredClone(value)) : value)
      return found && describe(found)
    },
  }
}

function fieldClaim(
  name: string,
  values: fc.Arbitrary<unknown>,
  up: Translate | undefined,
  downField: ((field: string) => string) | undefined,
  api: Api,
  schema: Schema,
): Claim {
  return {
    name,
    values,
    check(value) {
      for (const field of fieldsOf(up ? up(structuredClone(value)) : value, '')) {
        const shown = downField ? downField(field) : field
        if (!hasField(api, schema, shown))
          return `${schema.place.file}:${schema.place.line} has no field ${shown}`
      }
      return undefined
    },
  }
}

function fieldsOf(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [path]
  const inside = Array.isArray(value)
    ? value.flatMap((item, index) => fieldsOf(item, `${path}[${index}]`))
    : Object.entries(value).flatMap(([name, each]) =>
        /[.[\]]/.test(name) ? [] : fieldsOf(each, path === '' ? name : `${path}.${name}`),
      )
  return path === '' ? inside : [path, ...inside]
}

function queryClaim(
  api: Api,
  operation: ApiOperation,
  now: ApiOperation,
  head: Api,
  old: (schema: Schema) => fc.Arbitrary<unknown>,
  up: Translate | undefined,
  { changes }: Family,
): Claim {
  const parameters = operation.parameters.filter((each) => each.in === 'query')
  const values = Object.fromEntries(
    parameters.map((each) => [
      each.name,
      isSet(each) ? old(each.schema).map((value) => [value]) : old(each.schema),
    ]),
  )
  const ignored = changes
    .flatMap((change) => change.lenses)
    .flatMap((lens) =>
      lens.kind === 'ignored-parameter' && isAbout(lens, operation.id, 'query', lens.name) ? [lens.name] : [],
    )
  const merges = changes
    .flatMap((change) => change.lenses)
    .flatMap((lens) =>
      lens.kind === 'values'
        ? Object.entries(lens.merge).map(([value, shown]) => ({ schemas: lens.schemas, value, shown }))
        : [],
    )
  /** @returns a value that the version shows as one that was asked for, and that the translated filter does not match. */
  const forgottenMeaning = (
    { schema }: ApiParameter,
    asked: unknown,
    matched: unknown,
  ): string | undefined =>
    schema.kind === 'ref' && Array.isArray(asked) && Array.isArray(matched)
      ? merges.find(
          ({ schemas, value, shown }) =>
            schemas.includes(schema.name) && asked.includes(shown) && !matched.includes(value),
        )?.value
      : undefined
  return {
    name: `${api.version} ${operation.id} query`,
    values: fc.record(values, { requiredKeys: [], noNullPrototype: true }),
    check(query) {
      const translated: Record<string, unknown> = up ? up(structuredClone(query)) : query
      for (const [name, value] of Object.entries(translated)) {
        if (value === undefined) continue
        const parameter = now.parameters.find((each) => each.in === 'query' && each.name === name)
        if (!parameter) return `${now.place.file}:${now.place.line} has no parameter ${name}`
        if (ignored.includes(name))
          return `${parameter.place.file}:${parameter.place.line} ${name} must have no effect`
        for (const each of isSet(parameter) ? (value as unknown[]) : [value]) {
          const found = mismatch(head, parameter.schema, each, name)
          if (found) return describe(found)
        }
        const forgotten = forgottenMeaning(
          parameter,
          sent((query as Readonly<Record<string, unknown>>)[name]),
          value,
        )
        if (forgotten)
          return `${parameter.place.file}:${parameter.place.line} ${name} must match ${forgotten} too`
      }
      const lost = Object.keys(query as object).find(
        (name) => !ignored.includes(name) && translated[name] === undefined,
      )
      return lost && `${operation.place.file}:${operation.place.line} the parameter ${lost} is lost`
    },
  }
}

export interface Failure {
  readonly claim: string
  readonly fault: string
  readonly counterexample: unknown
  readonly seed: number
  readonly path: string
}

/** @returns the shrunk counterexample, or undefined when `runs` values gave none. */
export function refute(claim: Claim, runs: number, seed: number): Failure | undefined {
  const property = fc.property(claim.values, (value) => claim.check(value) === undefined)
  const result = fc.check(property, { numRuns: runs, seed })
  if (!result.failed) return undefined
  if (result.errorInstance && !result.counterexample) throw result.errorInstance
  const counterexample = result.counterexample![0]
  return {
    claim: claim.name,
    fault: faultOf(claim, counterexample),
    counterexample,
    seed,
    path: result.counterexamplePath ?? '',
  }
}

function faultOf(claim: Claim, value: unknown): string {
  try {
    return claim.check(value) ?? 'none when run again'
  } catch (error) {
    return `throws ${String(error)}`
  }
}
