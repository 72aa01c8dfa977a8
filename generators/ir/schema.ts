/** Builds IR nodes from Schema Objects of OpenAPI 3.0 and 3.1. */
import { lookUp as lookUpRaw } from '../runtime/explain/references.ts'
import { componentAt, componentOf } from './component-references.ts'
import { checkDynamic, noteForeign } from './foreign.ts'
import { groupOf, isPrinted, neverPrinted, PROSE } from './keywords.ts'
import type {
  ArraySchema,
  EnumSchema,
  NumberSchema,
  ObjectSchema,
  Scalar,
  Schema,
  StringSchema,
  UnionSchema,
} from './model.ts'
import { collectRules, isPattern } from './rules.ts'
import {
  child,
  complain,
  entries,
  extensionsOf,
  flag,
  isObject,
  items,
  leaveOut,
  number,
  type ObjectValue,
  once,
  placeOf,
  resolve,
  type Source,
  text,
} from './source.ts'
import { unheldOf } from './unheld.ts'

type Base = Pick<Schema, 'place' | 'deprecated' | 'extensions' | 'examples' | 'nullable'> & {
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
}

/** Returns the node of a schema. An unreadable schema becomes `any`, after a finding. */
export function buildSchema(written: Source): Schema {
  const source = withNotes(written)
  const schema = readSchema(source)
  const unheld = unheldOf(source, schema)
  return unheld ? { ...schema, unheld } : schema
}

/**
 * Returns a schema with the annotations of those members of `allOf` that only annotate, which 3.0 documents use to
 * describe a reference. Its own annotations override theirs.
 */
function withNotes(source: Source): Source {
  const { value } = source
  if (!isObject(value) || !Array.isArray(value.allOf)) return source
  const notes = value.allOf.filter(onlyAnnotates)
  if (notes.length === 0) return source
  const { nullable: _, ...annotations } = Object.assign({}, ...notes)
  return { ...source, value: { ...annotations, ...value } }
}

/** Returns whether a schema accepts every value. Without `type`, `nullable` has no effect. */
const onlyAnnotates = (schema: unknown): boolean =>
  schema === true ||
  (isObject(schema) &&
    Object.keys(schema).every(
      (name) => name === 'nullable' || name.startsWith('x-') || (PROSE.has(name) && !name.startsWith('$')),
    ))

function readSchema(source: Source): Schema {
  const { value } = source
  if (value === true) return { ...baseOf(source, false), kind: 'any' }
  if (value === false) return { ...baseOf(source, false), kind: 'never' }
  if (!isObject(value)) {
    complain(
      source,
      'schema-invalid',
      'the schema is neither an object nor a boolean',
      'write a Schema Object here',
    )
    return { ...baseOf(source, false), kind: 'any' }
  }
  const { openapi30 } = source.reader
  noteForeign(source)
  if (isPrinted(value, openapi30, (schema) => refusesNull(source, schema))) return buildNode(source, value)
  for (const each of neverPrinted(source)) buildSchema(each)
  checkDynamic(source)
  collectRules(source)
  return { ...buildNode(source, value), place: placeOf(source), partial: true }
}

function buildNode(source: Source, value: ObjectValue): Schema {
  if (typeof value.$ref === 'string') return buildReference(source, value.$ref)
  const types = typesOf(source)
  const nullable = isNullable(source)
  const rest = types.filter((type) => type !== 'null')
  if (types.length > 0 && rest.length === 0) return { ...baseOf(source, false), kind: 'null' }
  return withComposition(source, nullable, rest)
}

/** OpenAPI 3.0 has a `nullable` flag, 3.1 a `null` type. */
const isNullable = (source: Source): boolean =>
  source.reader.openapi30 ? flag(source, 'nullable') : typesOf(source).includes('null')

/** Returns whether a schema, directly or through its reference, rejects null. */
function refusesNull(source: Source, schema: unknown, depth = 0): boolean {
  if (!isObject(schema) || depth > 20) return schema === false
  const { $ref, type, enum: values } = schema
  if (typeof $ref === 'string') {
    const { references, document } = source.reader
    const pointer = references.pointerOf(schema, $ref)
    return pointer !== undefined && refusesNull(source, lookUpRaw(document.json, pointer), depth + 1)
  }
  if (source.reader.openapi30 && schema.nullable === true) return false
  if (Array.isArray(values) && !values.includes(null)) return true
  return type !== undefined && ![type].flat().includes('null')
}

function buildReference(source: Source, ref: string): Schema {
  const target = resolve(source)
  if (!target) return { ...baseOf(source, false), kind: 'any' }
  const name = componentAt(source, ref)
  const referred: Schema =
    name === undefined ? buildInPlace(source, target, ref) : { ...baseOf(source, false), kind: 'ref', name }
  const beside = besideReference(source)
  if (!beside) return referred
  return { ...baseOf(source, false), kind: 'intersection', members: [referred, beside] }
}

/** Builds the target of a reference in place, because the target is not a component. */
function buildInPlace(source: Source, target: Source, ref: string): Schema {
  const { inlining } = source.reader
  if (inlining.has(target.pointer) || source.pointer.startsWith(`${target.pointer}/`)) {
    leaveOut(source, 'ref-circular', `${ref} contains this reference`, 'make the target a component schema')
    collectRules(target)
    return { ...baseOf(target, false), kind: 'any', partial: true }
  }
  inlining.add(target.pointer)
  const schema = once(target, 'schema', () => buildSchema(target))
  inlining.delete(target.pointer)
  return schema
}

/** Returns the keywords next to `$ref` as a schema. They apply in 3.1 and are ignored in 3.0. */
function besideReference(source: Source): Schema | undefined {
  const rest = Object.entries(source.value as Record<string, unknown>).filter(
    ([name]) => !PROSE.has(name) && !name.startsWith('x-'),
  )
  if (rest.length === 0) return undefined
  if (source.reader.openapi30) {
    const names = rest.map(([name]) => `\`${name}\``).join(', ')
    source.reader.report.add({
      code: 'ref-siblings-ignored',
      severity: 'warning',
      place: placeOf(source),
      message: `OpenAPI 3.0 ignores ${names} next to $ref`,
      hint: 'move the reference into allOf',
    })
    return undefined
  }
  return buildSchema({ ...source, value: Object.fromEntries(rest) })
}

function typesOf(source: Source): string[] {
  const value = isObject(source.value) ? source.value.type : undefined
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.filter((each): each is string => typeof each === 'string')
  return []
}

/** Builds `oneOf`, `anyOf`, `allOf` and plain keywords of one schema, all of which apply. */
function withComposition(source: Source, nullable: boolean, types: readonly string[]): Schema {
  const parts: Schema[] = []
  for (const mode of ['oneOf', 'anyOf'] as const) {
    const union = child(source, mode)
    if (union) parts.push(buildUnion(source, union, mode, nullable))
  }
  const all = child(source, 'allOf')
  if (all) parts.push(...items(all).flatMap((each) => (onlyAnnotates(each.value) ? [] : buildSchema(each))))
  if (parts.length === 0) return buildPlain(source, nullable, types)
  if (types.length > 0 || groupOf(source.value as ObjectValue))
    parts.push(buildPlain(source, nullable, types))
  if (parts.length === 1 && !all) return parts[0]!
  return { ...baseOf(source, nullable), kind: 'intersection', members: parts }
}

function buildUnion(owner: Source, list: Source, mode: 'oneOf' | 'anyOf', nullable: boolean): Schema {
  const all = items(list).map(buildSchema)
  const members = all.filter((each) => each.kind !== 'null' || each.partial)
  const base = baseOf(owner, nullable || members.length < all.length)
  const only = members.length === 1 ? members[0] : undefined
  // In 3.1, `oneOf: [X, {type: null}]` makes X nullable.
  if (only && !only.partial && members.length < all.length)
    return { ...only, nullable: true, ...proseOf(base) }
  const discriminator = discriminatorOf(owner, members)
  const union: UnionSchema = {
    ...base,
    kind: 'union',
    mode,
    members,
    ...(discriminator && { discriminator }),
  }
  return union
}

function proseOf({ title, description }: Base): Pick<Base, 'title' | 'description'> {
  return { ...optional('title', title), ...optional('description', description) }
}

function discriminatorOf(owner: Source, members: readonly Schema[]): UnionSchema['discriminator'] {
  const source = child(owner, 'discriminator')
  const property = source && text(source, 'propertyName')
  if (!source || property === undefined) return undefined
  const mapping = new Map<string, string>()
  for (const [value, target] of entries(child(source, 'mapping'))) {
    const ref = typeof target.value === 'string' ? target.value : ''
    const name = componentOf(ref) ?? ref
    mapping.set(value, name)
    if (!members.some((each) => each.kind === 'ref' && each.name === name)) {
      leaveOut(
        target,
        'discriminator-target',
        `${ref} is not a member of this union`,
        'add it to the union or correct the mapping',
      )
    }
  }
  if (mapping.size === 0)
    for (const each of members) if (each.kind === 'ref') mapping.set(each.name, each.name)
  return { property, mapping }
}

/** Builds a schema without composition. Several types become an `anyOf`. */
function buildPlain(source: Source, nullable: boolean, types: readonly string[]): Schema {
  const values = enumValues(source)
  if (values) {
    const listed =
      types.length === 0 ? values : values.filter((value) => types.some((type) => isOfType(value, type)))
    const known = listed.filter((value) => value !== null)
    const open = isObject(source.value) && source.value['x-extensible'] === true
    // In 3.1, an enumeration allows null by listing it. In 3.0, `nullable` decides, if there is a type.
    const untyped = types.length === 0
    const allowed = source.reader.openapi30
      ? nullable || (untyped && values.includes(null))
      : values.includes(null) && (nullable || untyped)
    return { ...baseOf(source, allowed), kind: 'enum', values: known, open } satisfies EnumSchema
  }
  if (types.length > 1) {
    const members = types.map((type) => buildTyped(source, false, type))
    return { ...baseOf(source, nullable), kind: 'union', mode: 'anyOf', members }
  }
  const [type = groupOf(source.value as ObjectValue)] = types
  const node = buildTyped(source, nullable, type)
  return types.length > 0 || type === undefined ? node : { ...node, untyped: true }
}

function isOfType(value: Scalar, type: string): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

function buildTyped(source: Source, nullable: boolean, type: string | undefined): Schema {
  const base = baseOf(source, nullable)
  switch (type) {
    case 'string':
      return { ...base, kind: 'string', ...stringRules(source) } satisfies StringSchema
    case 'integer':
    case 'number':
      return {
        ...base,
        kind: 'number',
        integer: type === 'integer',
        ...numberRules(source),
      } satisfies NumberSchema
    case 'boolean':
      return { ...base, kind: 'boolean' }
    case 'array':
      return buildArray(source, base)
    case 'object':
      return buildObject(source, base)
    case undefined:
      return { ...base, kind: 'any' }
    default:
      leaveOut(
        source,
        'schema-type-unknown',
        `${type} is not a JSON Schema type`,
        'use string, number, integer, boolean, array, object or null',
      )
      return { ...base, kind: 'any' }
  }
}

function enumValues(source: Source): Scalar[] | undefined {
  if (!isObject(source.value)) return undefined
  const { value } = source
  const listed = Array.isArray(value.enum) ? value.enum : 'const' in value ? [value.const] : undefined
  if (!listed) return undefined
  const scalars = listed.filter((each): each is Scalar => each === null || typeof each !== 'object')
  return scalars.length < listed.length ? undefined : scalars
}

function stringRules(source: Source): Partial<StringSchema> {
  const pattern = text(source, 'pattern')
  if (pattern !== undefined && !isPattern(pattern)) {
    const at = child(source, 'pattern') ?? source
    leaveOut(at, 'pattern-invalid', `${pattern} is not a regular expression (ECMA-262)`, 'correct it')
  }
  return {
    ...optional('format', text(source, 'format')),
    ...optional('pattern', pattern !== undefined && isPattern(pattern) ? pattern : undefined),
    ...optional('minLength', number(source, 'minLength')),
    ...optional('maxLength', number(source, 'maxLength')),
  }
}

function numberRules(source: Source): Partial<NumberSchema> {
  const minimum = number(source, 'minimum')
  const maximum = number(source, 'maximum')
  // In 3.0, exclusive bounds are flags; in 3.1, they are numbers.
  const below = flag(source, 'exclusiveMinimum')
  const above = flag(source, 'exclusiveMaximum')
  return {
    ...optional('format', text(source, 'format')),
    ...optional('multipleOf', number(source, 'multipleOf')),
    ...optional('minimum', below ? undefined : minimum),
    ...optional('maximum', above ? undefined : maximum),
    ...optional('exclusiveMinimum', below ? minimum : number(source, 'exclusiveMinimum')),
    ...optional('exclusiveMaximum', above ? maximum : number(source, 'exclusiveMaximum')),
  }
}

function buildArray(source: Source, base: Base): ArraySchema {
  const inside = child(source, 'items')
  return {
    ...base,
    kind: 'array',
    items: inside ? buildSchema(inside) : { ...baseOf(source, false), kind: 'any' },
    prefix: items(child(source, 'prefixItems')).map(buildSchema),
    uniqueItems: flag(source, 'uniqueItems'),
    ...optional('minItems', number(source, 'minItems')),
    ...optional('maxItems', number(source, 'maxItems')),
  }
}

function buildObject(source: Source, base: Base): ObjectSchema {
  const required = new Set(items(child(source, 'required')).map((each) => each.value))
  const properties = entries(child(source, 'properties')).map(([name, property]) => ({
    name,
    required: required.delete(name),
    readOnly: flag(withNotes(property), 'readOnly'),
    writeOnly: flag(withNotes(property), 'writeOnly'),
    schema: buildSchema(property),
    place: placeOf(property),
  }))
  for (const name of required) {
    // A required name without a schema: any value, but it must be present.
    const schema: Schema = { ...baseOf(source, false), kind: 'any' }
    properties.push({
      name: String(name),
      required: true,
      readOnly: false,
      writeOnly: false,
      schema,
      place: placeOf(source),
    })
  }
  const names = child(source, 'propertyNames')
  return {
    ...base,
    kind: 'object',
    properties,
    additional: additionalOf(source),
    patterns: entries(child(source, 'patternProperties')).flatMap(([pattern, each]) => {
      const schema = buildSchema(each)
      if (isPattern(pattern)) return [{ pattern, schema }]
      leaveOut(each, 'pattern-invalid', `${pattern} is not a regular expression (ECMA-262)`, 'correct it')
      return []
    }),
    ...optional('propertyNames', names && buildSchema(names)),
    ...optional('minProperties', number(source, 'minProperties')),
    ...optional('maxProperties', number(source, 'maxProperties')),
  }
}

function additionalOf(source: Source): ObjectSchema['additional'] {
  const additional = child(source, 'additionalProperties')
  if (!additional || additional.value === true) return 'open'
  return additional.value === false ? 'closed' : buildSchema(additional)
}

function baseOf(source: Source, nullable: boolean): Base {
  const value = isObject(source.value) ? source.value : {}
  const examples = Array.isArray(value.examples) ? value.examples : 'example' in value ? [value.example] : []
  return {
    place: placeOf(source),
    deprecated: value.deprecated === true,
    extensions: extensionsOf(source),
    examples,
    nullable,
    ...optional('title', text(source, 'title')),
    ...optional('description', text(source, 'description')),
    ...('default' in value && { default: value.default }),
  }
}

/** Returns `{name: value}`, or an empty object if the value is undefined. */
export function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { [K in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [K in Name]?: Value })
}
