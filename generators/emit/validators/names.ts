/** Names the validators of a version: for components, parameters, bodies and items. */

import { jsonBody, rawBodies, streamOf, validatedArray } from '../../ir/bodies.ts'
import type { Api, ApiContent, ApiOperation, ApiParameter, Schema } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { successOf } from '../../ir/operations.ts'
import { stringLiteral } from '../../print/literal.ts'
import { CONTRACT } from '../../print/runtime.ts'
import { queryType, responseKey, schemaTypes } from '../types/type-names.ts'
import { formContents } from '../wire/forms.ts'

/** The validated schemas of a version. */
export interface ValidatedSchemas {
  /** Schemas by export name. */
  readonly schemas: ReadonlyMap<string, Schema>
  /**
   * Returns the type of the values that the validator of this name accepts.
   *
   * @param types name of the imported namespace of the version's types.
   */
  typeOf(name: string, types: string): string
  /** Returns the export name of a component. */
  component(name: string): string
  parameter(parameter: ApiParameter, operation: ApiOperation): string
  body(schema: Schema, operation: ApiOperation): string
  form(content: ApiContent, operation: ApiOperation): string
  item(schema: Schema, operation: ApiOperation): string
  raw(content: ApiContent, operation: ApiOperation): string
  /** @param schema the schema of one item of the operation's stream. */
  streamed(schema: Schema, operation: ApiOperation): string
}

const known = new WeakMap<Api, ValidatedSchemas>()

/** Returns everything that is validated in a version. Names that give the same identifier get numbers. */
export function validatedOf(api: Api): ValidatedSchemas {
  const validated = known.get(api) ?? collect(api)
  known.set(api, validated)
  return validated
}

function collect(api: Api): ValidatedSchemas {
  const schemas = new Map<string, Schema>()
  const names = new Map<string, string>()
  const types = new Map<string, PrintType>()
  const typeOfSchema = schemaTypes(api.schemas.keys())
  const add = (key: string, wanted: string, schema: Schema, type: PrintType): string => {
    const before = names.get(key)
    if (before !== undefined) return before
    let name = identifier(wanted)
    for (let n = 2; schemas.has(name); n++) name = identifier(`${wanted}_${n}`)
    names.set(key, name)
    schemas.set(name, schema)
    types.set(name, type)
    return name
  }
  const component = (name: string) => names.get(`component ${name}`)!
  const of = (schema: Schema, key: string, wanted: string, type: PrintType) =>
    schema.kind === 'ref' && api.schemas.has(schema.name)
      ? component(schema.name)
      : add(key, wanted, schema, type)
  const validated: ValidatedSchemas = {
    schemas,
    component,
    typeOf: (name, namespace) => types.get(name)!(namespace),
    parameter(parameter, operation) {
      const { pointer } = parameter.place
      const shared = /^\/components\/parameters\/([^/]+)$/.exec(pointer)?.[1]
      const wanted = shared === undefined ? `${operation.id}_${parameter.name}` : `parameter_${shared}`
      return of(
        parameter.schema,
        shared === undefined ? `parameter ${operation.id} ${pointer}` : pointer,
        wanted,
        parameterType(api, parameter, operation),
      )
    },
    body: (schema, operation) =>
      of(
        schema,
        `body ${operation.id}`,
        `${operation.id}_body`,
        envelope(api, schema, bodyType(operation, jsonBody(operation)!)),
      ),
    form: (content, operation) =>
      of(
        content.schema,
        `form ${operation.id} ${content.mediaType}`,
        `${operation.id}_form`,
        bodyType(operation, content),
      ),
    raw: (content, operation) =>
      of(
        content.schema,
        `raw ${operation.id} ${content.mediaType}`,
        `${operation.id}_raw`,
        bodyType(operation, content),
      ),
    item: (schema, operation) =>
      of(schema, `item ${operation.id}`, `${operation.id}_item`, itemType(api, operation)),
    streamed: (schema, operation) =>
      of(schema, `streamed ${operation.id}`, `${operation.id}_streamed`, streamedType(operation)),
  }
  for (const [name, schema] of api.schemas)
    add(
      `component ${name}`,
      name,
      schema,
      envelope(api, schema, (types) => `${types}.${typeOfSchema.get(name)}`),
    )
  for (const operation of api.operations) {
    for (const parameter of operation.parameters) validated.parameter(parameter, operation)
    for (const { content } of formContents(operation)) validated.form(content, operation)
    for (const content of rawBodies(api, operation)) validated.raw(content, operation)
    const stream = streamOf(operation)?.items
    if (stream) validated.streamed(stream.items, operation)
    const body = jsonBody(operation)?.schema
    if (!body) continue
    validated.body(body, operation)
    const each = validatedArray(api, body)
    if (each) validated.item(each.items, operation)
  }
  return validated
}

/** @param types name of the imported namespace of the version's types. */
type PrintType = (types: string) => string

const index = (name: string): string => `[${stringLiteral(name)}]`

const operationType = ({ id }: ApiOperation, types: string): string => `${types}.operations${index(id)}`

function parameterType(api: Api, { name, in: where }: ApiParameter, operation: ApiOperation): PrintType {
  const query = where === 'query' ? queryType(api, operation) : undefined
  return (types) => {
    const all =
      query === undefined
        ? `NonNullable<${operationType(operation, types)}['parameters'][${stringLiteral(where)}]>`
        : `${types}.${query}`
    return `NonNullable<${all}${index(name)}>`
  }
}

const bodyType =
  (operation: ApiOperation, { mediaType }: ApiContent): PrintType =>
  (types) =>
    `NonNullable<${operationType(operation, types)}['requestBody']>['content']${index(mediaType)}`

/** The type of a batch whose items are validated one by one. */
function envelope(api: Api, schema: Schema, type: PrintType): PrintType {
  const each = validatedArray(api, schema)
  return each
    ? (types) => `import('${CONTRACT}').Envelope<${type(types)}, ${stringLiteral(each.property)}>`
    : type
}

function itemType(api: Api, operation: ApiOperation): PrintType {
  const content = jsonBody(operation)!
  const { property } = validatedArray(api, content.schema)!
  return (types) => `NonNullable<${bodyType(operation, content)(types)}${index(property)}>[number]`
}

function streamedType(operation: ApiOperation): PrintType {
  const { content } = streamOf(operation)!
  const status = responseKey(successOf(operation)!.status)
  return (types) =>
    `${operationType(operation, types)}['responses']${status}['content']${index(content.mediaType)}[number]`
}

/** Returns the name, with a number if it is taken. */
export function freeOf(wanted: string, taken: Pick<ReadonlySet<string>, 'has'>): string {
  let name = wanted
  for (let n = 2; taken.has(name); n++) name = `${wanted}_${n}`
  return name
}
