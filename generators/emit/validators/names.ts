/** Names the validators of a version: for components, parameters, bodies and items. */

import { jsonBody, validatedArray } from '../../ir/bodies.ts'
import type { Api, ApiContent, ApiOperation, ApiParameter, Schema } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { formContents } from '../wire/forms.ts'

/** The validated schemas of a version. */
export interface ValidatedSchemas {
  /** Schemas by export name. */
  readonly schemas: ReadonlyMap<string, Schema>
  /** Returns the export name of a component. */
  component(name: string): string
  parameter(parameter: ApiParameter, operation: ApiOperation): string
  body(schema: Schema, operation: ApiOperation): string
  form(content: ApiContent, operation: ApiOperation): string
  item(schema: Schema, operation: ApiOperation): string
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
  const add = (key: string, wanted: string, schema: Schema): string => {
    const before = names.get(key)
    if (before !== undefined) return before
    let name = identifier(wanted)
    for (let n = 2; schemas.has(name); n++) name = identifier(`${wanted}_${n}`)
    names.set(key, name)
    schemas.set(name, schema)
    return name
  }
  const component = (name: string) => names.get(`component ${name}`)!
  const of = (schema: Schema, key: string, wanted: string) =>
    schema.kind === 'ref' && api.schemas.has(schema.name) ? component(schema.name) : add(key, wanted, schema)
  const validated: ValidatedSchemas = {
    schemas,
    component,
    parameter(parameter, operation) {
      const { pointer } = parameter.place
      const shared = /^\/components\/parameters\/([^/]+)$/.exec(pointer)?.[1]
      const wanted = shared === undefined ? `${operation.id}_${parameter.name}` : `parameter_${shared}`
      return of(
        parameter.schema,
        shared === undefined ? `parameter ${operation.id} ${pointer}` : pointer,
        wanted,
      )
    },
    body: (schema, operation) => of(schema, `body ${operation.id}`, `${operation.id}_body`),
    form: ({ schema, mediaType }, operation) =>
      of(schema, `form ${operation.id} ${mediaType}`, `${operation.id}_form`),
    item: (schema, operation) => of(schema, `item ${operation.id}`, `${operation.id}_item`),
  }
  for (const [name, schema] of api.schemas) add(`component ${name}`, name, schema)
  for (const operation of api.operations) {
    for (const parameter of operation.parameters) validated.parameter(parameter, operation)
    for (const { content } of formContents(operation)) validated.form(content, operation)
    const body = jsonBody(operation)?.schema
    if (!body) continue
    validated.body(body, operation)
    const each = validatedArray(api, body)
    if (each) validated.item(each.items, operation)
  }
  return validated
}
