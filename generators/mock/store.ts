/** Remembers the records of a mock. All versions share one store, whose records have the form of the newest version. */

import { jsonBody } from '../ir/bodies.ts'
import { partsOf } from '../ir/members.ts'
import type { Api, ApiOperation, Property } from '../ir/model.ts'
import { shapeOf } from '../translate/shape.ts'
import type { StoredRecord } from './pages.ts'
import type { MockResource } from './resources.ts'
import { validatorAt } from './tables.ts'
import { fitsProperty, isObject, type ValueMaker } from './values.ts'

export type MockRecord = Readonly<Record<string, unknown>>

export interface MockCollection {
  /** In the order of creation. */
  list(): readonly StoredRecord[]
  get(id: string): MockRecord | undefined
  set(id: string, record: MockRecord): void
  delete(id: string): boolean
  /** Adds a record with the properties of a request body. Returns it. */
  create(operation: ApiOperation, body: unknown): MockRecord
}

interface StoredCollection {
  readonly records: Map<string, MockRecord>
  made: number
}

export interface MockStore {
  collection(api: Api, of: MockResource, values: ValueMaker, path: MockRecord): MockCollection
  /** Records without identifier, by path. */
  readonly singles: Map<string, MockRecord>
}

/** Returns the path with its parameters filled in. */
export const fillPath = (template: string, values: MockRecord): string =>
  template.replace(/\{([^{}]+)\}/g, (_, name: string) => String(values[name]))

/** Creates an empty store. A collection starts with one record when it is first used. */
export function createStore(): MockStore {
  const collections = new Map<string, StoredCollection>()
  return {
    singles: new Map(),
    collection(api, of, values, path) {
      const key = fillPath(of.path, path)
      const known = collections.get(key)
      const stored = known ?? { records: new Map(), made: 0 }
      const opened = openCollection(api, of, values, key, stored)
      if (!known) {
        collections.set(key, stored)
        opened.create(WITHOUT_BODY, undefined)
      }
      return opened
    },
  }
}

const WITHOUT_BODY: Pick<ApiOperation, 'body'> = {}

function openCollection(
  api: Api,
  of: MockResource,
  values: ValueMaker,
  key: string,
  stored: StoredCollection,
): MockCollection & { create(operation: Pick<ApiOperation, 'body'>, body: unknown): MockRecord } {
  const { records } = stored
  return {
    list: () => [...records],
    get: (id) => records.get(id),
    set: (id, record) => void records.set(id, record),
    delete: (id) => records.delete(id),
    create(operation, body) {
      const number = ++stored.made
      const base = of.shown ? unwrapped(values.body(of.shown, `${key} ${number}`), of) : {}
      const record: Record<string, unknown> = { ...merged(api, of, cleared(api, of, operation, base), body) }
      const given =
        isObject(body) && of.id ? body[of.id.name] : body === undefined ? idIn(base, of) : undefined
      const free = given !== undefined && !records.has(String(given)) ? given : undefined
      const id = free ?? newId(api, of, values, key, records, number)
      if (of.id) record[of.id.name] = id
      records.set(String(id), record)
      return record
    },
  }
}

const idIn = (record: MockRecord, { id }: MockResource): unknown => (id ? record[id.name] : undefined)

/** Returns the record inside an answer. */
function unwrapped(answer: unknown, { id }: MockResource): MockRecord {
  if (!isObject(answer)) return {}
  if (!id || Object.hasOwn(answer, id.name)) return answer
  return (
    Object.values(answer).find(
      (each): each is MockRecord => isObject(each) && Object.hasOwn(each, id.name),
    ) ?? answer
  )
}

/** Returns the properties of the resource's records. */
function propertiesOf(api: Api, { shown, id }: MockResource): ReadonlyMap<string, Property> {
  const outer = shown && shapeOf(shown.schema, api, new Set())?.properties
  if (!outer || !id || outer.has(id.name)) return outer ?? new Map()
  const inner = [...outer.values()].map(({ schema }) => shapeOf(schema, api, new Set())?.properties)
  return inner.find((each) => each?.has(id.name)) ?? outer
}

/** Removes example values of properties that a caller can set: those come from the body, or have a default. */
function cleared(
  api: Api,
  of: MockResource,
  operation: Pick<ApiOperation, 'body'>,
  base: MockRecord,
): MockRecord {
  const schema = operation.body && jsonBody({ ...operation } as ApiOperation)?.schema
  const settable = schema ? (shapeOf(schema, api, new Set())?.properties ?? new Map<string, Property>()) : []
  const properties = propertiesOf(api, of)
  const record: Record<string, unknown> = { ...base }
  for (const [name, { schema: own }] of settable) {
    const property = properties.get(name)
    if (!property) continue
    if (own.default !== undefined) record[name] = own.default
    else if (!property.required) delete record[name]
  }
  return record
}

/** Merges a body into a record (RFC 7396). Values that the record's schema does not allow are left out. */
export function merged(api: Api, of: MockResource, record: MockRecord, body: unknown): MockRecord {
  if (!isObject(body)) return record
  const properties = propertiesOf(api, of)
  const next: Record<string, unknown> = { ...record }
  for (const [name, given] of Object.entries(body)) {
    const property = properties.get(name)
    if (!property || property.writeOnly || property.readOnly) continue
    const value = mergePatch(record[name], given)
    if (fitsProperty(api, property, value)) next[name] = value
    else if (fitsProperty(api, property, given)) next[name] = given
    else if (given === null && !property.required) delete next[name]
  }
  return next
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const next: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete next[name]
    else next[name] = mergePatch(next[name], value)
  }
  return next
}

/** Returns an identifier that the collection does not have yet and that its path accepts. */
function newId(
  api: Api,
  of: MockResource,
  values: ValueMaker,
  key: string,
  records: ReadonlyMap<string, MockRecord>,
  number: number,
): unknown {
  const parameter = api.operations
    .flatMap(({ path, parameters }) => (path.startsWith(`${of.path}/{`) ? parameters : []))
    .find(({ in: where, name }) => where === 'path' && name === of.parameter)
  const schema = of.id?.schema ?? parameter?.schema
  const checks = [of.id?.schema, parameter?.schema].flatMap((each) =>
    each ? [validatorAt(api, each.place.pointer)] : [],
  )
  const accepts = (id: unknown) => !records.has(String(id)) && checks.every((check) => check(id))
  const [part] = schema ? partsOf(api, schema) : []
  const noun = of.path.slice(of.path.lastIndexOf('/') + 1).replace(/s$/, '')
  const simple: readonly unknown[] =
    part?.kind === 'number' ? [number, records.size + number] : [`${noun}_${number}`, String(number)]
  return simple.find(accepts) ?? (schema && values.value(schema, `${key} id ${number}`, accepts)) ?? simple[0]
}
