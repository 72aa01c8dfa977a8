/**
 * Emits the validators of each version as Standard Schemas: its components, and the bodies that are not components. A
 * file contains the schemas of the document, without annotations, so that issues are explained without loading more.
 */
import { jsonBody, validatedArray } from '../../ir/bodies.ts'
import type { Api, OutputFile, Schema } from '../../ir/model.ts'
import { createFile } from '../../print/file.ts'
import { literal, stringLiteral } from '../../print/literal.ts'
import { STANDARD_SCHEMA } from '../../print/runtime.ts'
import {
  type Holding,
  indexReferences,
  lookUp,
  type References,
  SUBSCHEMAS,
  subschemas,
} from '../../runtime/explain/references.ts'
import { isObject, type Json } from '../../runtime/explain/walk.ts'
import { freeOf, validatedOf } from './names.ts'

/** @param apis the server view of each version. */
export const emitStandardSchemas = (apis: readonly Api[]): OutputFile[] => apis.flatMap(emitVersion)

function emitVersion(api: Api): OutputFile[] {
  const pointers = pointersOf(api)
  const names = [...pointers.keys()]
  const held = freeOf('document', pointers)
  const file = createFile([...names, held])
  const validators = file.use('*', './validators.js', { as: 'validators' })
  const wrap = file.use('standardSchema', STANDARD_SCHEMA)
  file.print(
    '/** The schemas of the document, without annotations, to explain refused values. */',
    `const ${held} = ${literal(checkedParts(api.document, pointers.values()))}`,
    '',
    ...[...pointers].map(
      ([name, pointer]) =>
        `export const ${name} = /* @__PURE__ */ ${wrap}(${validators}.${name}, ${held}, ${stringLiteral(pointer)})`,
    ),
  )
  return [
    { path: `${api.version}/schemas.js`, text: file.text() },
    { path: `${api.version}/schemas.d.ts`, text: declare(api, names) },
  ]
}

function declare(api: Api, names: readonly string[]): string {
  const file = createFile(names)
  const types = file.use('*', './types.ts', { type: true, as: freeOf('types', new Set(names)) })
  const schema = file.use('StandardSchemaV1', STANDARD_SCHEMA, { type: true })
  for (const name of names)
    file.print(`export declare const ${name}: ${schema}<${validatedOf(api).typeOf(name, types)}>`)
  return file.text()
}

/**
 * Returns the pointers of the schemas by export name. Batches whose items are validated one by one are left out,
 * because their validators accept any item.
 */
function pointersOf(api: Api): ReadonlyMap<string, string> {
  const validated = validatedOf(api)
  const pointers = new Map<string, string>()
  const add = (name: string, schema: Schema, pointer: string) => {
    if (!validatedArray(api, schema)) pointers.set(name, pointer)
  }
  for (const [name, schema] of api.schemas) add(validated.component(name), schema, schema.place.pointer)
  for (const operation of api.operations) {
    const content = jsonBody(operation)
    if (!content || (content.schema.kind === 'ref' && api.schemas.has(content.schema.name))) continue
    add(validated.body(content.schema, operation), content.schema, `${content.place.pointer}/schema`)
  }
  return pointers
}

/**
 * Returns the schemas at the pointers and all that they refer to, each at its own pointer.
 *
 * @param kept annotations that the schemas keep.
 */
export function checkedParts(document: Json, pointers: Iterable<string>, kept: readonly string[] = []): Json {
  const references = indexReferences(document, String(document.openapi).startsWith('3.0'))
  const parts: MutableJson = { openapi: document.openapi }
  const seen = new Set<string>()
  const add = (pointer: string): void => {
    if (seen.has(pointer)) return
    seen.add(pointer)
    const schema = lookUp(document, pointer)
    put(parts, pointer, withoutAnnotations(schema, kept))
    for (const target of targetsIn(schema, references)) add(target)
  }
  for (const pointer of pointers) add(pointer)
  return parts
}

interface MutableJson {
  [name: string]: unknown
}

/** Adds a value at a pointer. The containers on the way are created. */
function put(parts: MutableJson, pointer: string, value: unknown): void {
  const tokens = pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  const holder = tokens.slice(0, -1).reduce((at, token) => {
    at[token] ??= {}
    return at[token] as MutableJson
  }, parts)
  holder[tokens.at(-1)!] = value
}

function targetsIn(schema: unknown, references: References): string[] {
  if (!isObject(schema)) return []
  const refs = [schema.$ref, schema.$dynamicRef].filter((each) => typeof each === 'string')
  return [
    ...refs.flatMap((ref) => references.pointerOf(schema, ref) ?? []),
    ...subschemas(schema).flatMap(([, inside]) => targetsIn(inside, references)),
  ]
}

/** Keywords that no validator checks. Access is left out because requests have their own components in this document. */
const ANNOTATIONS = new Set(
  'title description default example examples deprecated readOnly writeOnly externalDocs xml $comment'.split(
    ' ',
  ),
)

function withoutAnnotations(schema: unknown, kept: readonly string[]): unknown {
  if (!isObject(schema)) return schema
  const rules = Object.entries(schema).filter(
    ([name]) => kept.includes(name) || !(ANNOTATIONS.has(name) || name.startsWith('x-')),
  )
  return Object.fromEntries(rules.map(([name, held]) => [name, bareBelow(SUBSCHEMAS.get(name), held, kept)]))
}

function bareBelow(holding: Holding | undefined, held: unknown, kept: readonly string[]): unknown {
  const bare = (each: unknown) => withoutAnnotations(each, kept)
  if (holding === 'one') return bare(held)
  if (holding === 'list' && Array.isArray(held)) return held.map(bare)
  if (holding !== 'named' || !isObject(held)) return held
  return Object.fromEntries(Object.entries(held).map(([name, each]) => [name, bare(each)]))
}
