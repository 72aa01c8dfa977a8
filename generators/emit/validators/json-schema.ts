/**
 * Prints IR nodes as JSON Schema (2020-12) for validators: without prose, with a fixed order of keywords, and with
 * references by component name. Schemas that validate equally produce the same text, even if their documents use
 * different names or orders.
 */

import { isValidatedEach } from '../../ir/bodies.ts'
import type { JsonSchema, Schema } from '../../ir/model.ts'
import { SUBSCHEMAS } from '../../runtime/explain/references.ts'

/** Changes the printed form of a schema, for example to add annotations. */
export type FinishSchema = (printed: JsonSchema, schema: Schema) => JsonSchema

/**
 * @param rename returns the output name of a component.
 * @param finish is called for each schema, innermost first.
 */
export function toJsonSchema(
  schema: Schema,
  rename: (component: string) => string,
  finish: FinishSchema = (printed) => printed,
): JsonSchema {
  const printed = print(schema, rename, (each) => toJsonSchema(each, rename, finish))
  return finish(withNull(printed, schema), schema)
}

function withNull(printed: JsonSchema, schema: Schema): JsonSchema {
  if (typeof printed === 'object' && schema.untyped) {
    const { type: _, ...rules } = printed
    return rules
  }
  if (!schema.nullable || typeof printed === 'boolean') return printed
  if (typeof printed.type === 'string') return { ...printed, type: [printed.type, 'null'] }
  if (Array.isArray(printed.enum)) return { ...printed, enum: [...printed.enum, null] }
  return { anyOf: [printed, { type: 'null' }] }
}

function print(
  schema: Schema,
  rename: (component: string) => string,
  inner: (each: Schema) => JsonSchema,
): JsonSchema {
  switch (schema.kind) {
    case 'any':
      return true
    case 'never':
      return false
    case 'null':
      return { type: 'null' }
    case 'boolean':
      return { type: 'boolean' }
    case 'number':
      return printNumber(schema)
    case 'string':
      return defined({
        type: 'string',
        minLength: schema.minLength,
        maxLength: schema.maxLength,
        pattern: schema.pattern,
        format: schema.format,
      })
    case 'enum':
      return { enum: [...schema.values] }
    case 'array':
      return printArray(schema, inner)
    case 'object':
      return printObject(schema, inner)
    case 'union':
      return defined({
        // ajv only generates a switch if the type and the tag are next to the discriminator.
        ...(schema.discriminator && {
          type: 'object',
          discriminator: { propertyName: schema.discriminator.property },
          required: [schema.discriminator.property],
        }),
        [schema.mode]: schema.members.map(inner),
      })
    case 'intersection':
      return { allOf: schema.members.map(inner) }
    case 'ref':
      return { $ref: rename(schema.name) }
  }
}

function printNumber(schema: Extract<Schema, { kind: 'number' }>): JsonSchema {
  return defined({
    type: schema.integer ? 'integer' : 'number',
    minimum: schema.minimum,
    maximum: schema.maximum,
    exclusiveMinimum: schema.exclusiveMinimum,
    exclusiveMaximum: schema.exclusiveMaximum,
    multipleOf: schema.multipleOf,
    // int32 and int64 imply bounds; float and double have no effect on JSON.
    ...(schema.format === 'int32' && {
      minimum: schema.minimum ?? -(2 ** 31),
      maximum: schema.maximum ?? 2 ** 31 - 1,
    }),
  })
}

function printArray(
  schema: Extract<Schema, { kind: 'array' }>,
  inner: (each: Schema) => JsonSchema,
): JsonSchema {
  const items = isValidatedEach(schema) ? true : inner(schema.items)
  return defined({
    type: 'array',
    minItems: schema.minItems,
    maxItems: schema.maxItems,
    uniqueItems: schema.uniqueItems || undefined,
    prefixItems: schema.prefix.length > 0 ? schema.prefix.map(inner) : undefined,
    items: items === true ? undefined : items,
  })
}

function printObject(
  schema: Extract<Schema, { kind: 'object' }>,
  inner: (each: Schema) => JsonSchema,
): JsonSchema {
  const required = schema.properties.filter((property) => property.required).map((property) => property.name)
  const { additional } = schema
  return defined({
    type: 'object',
    minProperties: schema.minProperties,
    maxProperties: schema.maxProperties,
    propertyNames: schema.propertyNames && inner(schema.propertyNames),
    required: required.length > 0 ? required.sort() : undefined,
    properties:
      schema.properties.length > 0
        ? Object.fromEntries(schema.properties.map(({ name, schema: property }) => [name, inner(property)]))
        : undefined,
    patternProperties:
      schema.patterns.length > 0
        ? Object.fromEntries(schema.patterns.map(({ pattern, schema: each }) => [pattern, inner(each)]))
        : undefined,
    additionalProperties:
      additional === 'open' ? undefined : additional === 'closed' ? false : inner(additional),
  })
}

function defined(members: Record<string, unknown>): JsonSchema {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** Returns a schema with each of its subschemas replaced, innermost first. */
export function mapSchemas(schema: JsonSchema, change: (rules: Rules) => Rules): JsonSchema {
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = (each: unknown) => mapSchemas(each as JsonSchema, change)
  const members = Object.entries(schema).map(([name, held]): [string, unknown] => {
    const how = SUBSCHEMAS.get(name)
    if (how === undefined) return [name, held]
    if (how === 'one') return [name, inner(held)]
    if (how === 'list') return [name, (held as unknown[]).map(inner)]
    return [name, Object.fromEntries(Object.entries(held as Rules).map(([key, each]) => [key, inner(each)]))]
  })
  return change(Object.fromEntries(members))
}

type Rules = Readonly<Record<string, unknown>>
