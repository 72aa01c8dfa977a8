/**
 * Checks the shape of an OpenAPI document: objects, lists and strings are where OpenAPI expects them. Later phases
 * rely on this, so that a malformed document leads to a finding at the fault.
 */
import { escapePointer } from './escape-pointer.ts'
import type { DocumentFault } from './excess.ts'
import type { WrittenReference } from './references.ts'

/** The required kind of a member: a leaf, or a kind of node. `[]` means a list of it, `{}` an object of it. */
export type ShapeRule = string

const REFERABLE = { $ref: 'text', summary: 'text', description: 'text' }
const LEAVES = {
  text: (value: unknown) => typeof value === 'string',
  flag: (value: unknown) => typeof value === 'boolean',
  number: (value: unknown) => Number.isFinite(value),
  bound: (value: unknown) => Number.isFinite(value) || typeof value === 'boolean',
  factor: (value: unknown) => Number.isFinite(value) && Number(value) > 0,
  type: (value: unknown) =>
    typeof value === 'string' || (Array.isArray(value) && value.every((each) => typeof each === 'string')),
  list: Array.isArray,
  texts: (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === 'string'),
} as const

const PARAMETER: Readonly<Record<string, ShapeRule>> = {
  ...REFERABLE,
  name: 'text',
  in: 'text',
  required: 'flag',
  deprecated: 'flag',
  schema: 'Schema',
  content: 'Media{}',
  examples: 'Example{}',
}

const OPERATION: Readonly<Record<string, ShapeRule>> = {
  ...REFERABLE,
  tags: 'texts',
  operationId: 'text',
  deprecated: 'flag',
  parameters: 'Parameter[]',
  requestBody: 'Body',
  responses: 'Response{}',
  callbacks: 'Callback{}',
  security: 'Requirement[]',
  servers: 'Server[]',
}

const named = (rule: ShapeRule, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, rule]))

const SCHEMA: Readonly<Record<string, ShapeRule>> = {
  ...REFERABLE,
  ...named('text', 'title', 'format', 'pattern'),
  type: 'type',
  ...named('list', 'enum', 'examples'),
  required: 'texts',
  ...named('Schema{}', 'properties', 'patternProperties', '$defs', 'dependentSchemas'),
  ...named('Schema[]', 'allOf', 'anyOf', 'oneOf', 'prefixItems'),
  ...named(
    'Schema',
    'items',
    'additionalProperties',
    'propertyNames',
    'not',
    'if',
    'then',
    'else',
    'contains',
  ),
  ...named('Schema', 'unevaluatedProperties', 'unevaluatedItems', 'contentSchema'),
  ...named('number', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'),
  ...named('number', 'minProperties', 'maxProperties', 'minContains', 'maxContains'),
  ...named('bound', 'exclusiveMinimum', 'exclusiveMaximum'),
  multipleOf: 'factor',
  ...named('flag', 'uniqueItems', 'nullable', 'deprecated', 'readOnly', 'writeOnly'),
  dependentRequired: 'texts{}',
  discriminator: 'Discriminator',
}

const KINDS: Readonly<Record<string, Readonly<Record<string, ShapeRule>>>> = {
  Document: {
    info: 'Info',
    paths: 'PathItem{}',
    webhooks: 'PathItem{}',
    components: 'Components',
    tags: 'Tag[]',
    servers: 'Server[]',
    security: 'Requirement[]',
    $self: 'text',
  },
  Info: { title: 'text', version: 'text', ...REFERABLE },
  Tag: named('text', 'name', 'summary', 'description', 'parent', 'kind'),
  Server: { url: 'text', description: 'text' },
  Components: {
    schemas: 'Schema{}',
    parameters: 'Parameter{}',
    responses: 'Response{}',
    requestBodies: 'Body{}',
    headers: 'Header{}',
    securitySchemes: 'Scheme{}',
    pathItems: 'PathItem{}',
    callbacks: 'Callback{}',
    mediaTypes: 'Media{}',
    examples: 'Example{}',
    links: 'Link{}',
  },
  PathItem: {
    ...REFERABLE,
    parameters: 'Parameter[]',
    servers: 'Server[]',
    ...named('Operation', 'get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'),
    additionalOperations: 'Operation{}',
  },
  Operation: OPERATION,
  Parameter: PARAMETER,
  Body: { ...REFERABLE, required: 'flag', content: 'Media{}' },
  Header: PARAMETER,
  Response: { ...REFERABLE, headers: 'Header{}', content: 'Media{}', links: 'Link{}' },
  Media: {
    $ref: 'text',
    schema: 'Schema',
    itemSchema: 'Schema',
    examples: 'Example{}',
    encoding: 'Encoding{}',
  },
  Encoding: { headers: 'Header{}' },
  Scheme: { ...REFERABLE, ...named('text', 'type', 'in', 'name', 'scheme'), flows: 'Flow{}' },
  Flow: { ...named('text', 'authorizationUrl', 'tokenUrl', 'refreshUrl'), scopes: 'text{}' },
  Schema: SCHEMA,
  Discriminator: { propertyName: 'text', mapping: 'text{}' },
  Example: { $ref: 'text' },
  Link: { $ref: 'text' },
  Callback: REFERABLE,
  Requirement: {},
}

/** Nodes whose members are all of one kind. */
const EVERY: Readonly<Record<string, ShapeRule>> = { Callback: 'PathItem', Requirement: 'texts' }

/** What a member holds that OpenAPI does not describe: an example, a default, an `x-` member. */
export const ANY_VALUE: ShapeRule = 'any value'

/** Returns the rule for a member of a node, or `ANY_VALUE`. */
export function ruleOfMember(rule: ShapeRule, name: string): ShapeRule {
  if (rule.endsWith('[]') || rule.endsWith('{}')) return rule.slice(0, -2)
  const kind = Object.hasOwn(KINDS, rule) ? KINDS[rule]! : {}
  if (Object.hasOwn(kind, name)) return Object.hasOwn(LEAVES, kind[name]!) ? ANY_VALUE : kind[name]!
  return (!name.startsWith('x-') && EVERY[rule]) || ANY_VALUE
}

/** Members without which a node is unusable. Other invalid leaves can be removed. */
const NEEDED = /^(?:\$ref|name|in|operationId|type|propertyName)$/

export interface ShapeFault extends DocumentFault {
  /** Whether the rest of the document keeps its meaning without the member. */
  readonly untidy: boolean
  /** The smallest part that can be left out with the fault. */
  readonly part: ShapePart
}

/** A schema, a list of parameters, an operation or another part that a document can be read without. */
export interface ShapePart {
  readonly pointer: string
  /** What its faulty members belong to. `members`: the schema that holds a list of schemas. */
  readonly kind: 'part' | 'list' | 'schema' | 'members'
  readonly value: unknown
  /** Removes the part from the document. A schema becomes `true`, so that its property or component remains. */
  cut(): void
}

function partOf(
  rule: ShapeRule,
  pointer: string,
  holder: ShapePart,
  parent: object,
  name: string,
): ShapePart {
  const value: unknown = Reflect.get(parent, name)
  if (rule === 'Schema')
    return holder.kind === 'members'
      ? { ...holder, kind: 'schema' }
      : { pointer, value, kind: 'schema', cut: () => void Reflect.set(parent, name, true) }
  if (rule === 'Schema[]') return { ...holder, kind: 'members' }
  if (holder.kind !== 'part') return holder
  // Without its own requirements, an operation would have those of the document.
  if (rule === 'Requirement[]' && holder.pointer !== '') return { ...holder, kind: 'list' }
  const kind = rule.endsWith('[]') ? 'list' : 'part'
  return { pointer, value, kind, cut: () => void Reflect.deleteProperty(parent, name) }
}

export interface DocumentShape {
  /** All values that do not fit their location. */
  readonly faults: readonly ShapeFault[]
  readonly references: readonly WrittenReference[]
}

/**
 * Checks a document and removes untidy members from it.
 *
 * @param document plain JSON without cycles.
 */
export function checkShape(document: object): DocumentShape {
  const faults: ShapeFault[] = []
  const references: WrittenReference[] = []
  const known = new Map<object, Set<ShapeRule>>()
  const wrong = (pointer: string, value: unknown, wanted: string, part: ShapePart, untidy = false) => {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1)
    faults.push({ pointer, message: `\`${name}\` is ${nameOf(value)}, not ${wanted}`, untidy, part })
  }
  const members = (
    value: object,
    pointer: string,
    rule: ShapeRule,
    holder: ShapePart,
    besides: object = {},
  ): void => {
    for (const [name, each] of Object.entries(value)) {
      if (name.startsWith('x-') && rule !== 'Schema') continue
      if (Object.hasOwn(besides, name)) continue
      const at = `${pointer}/${escapePointer(name)}`
      const part = partOf(rule, at, holder, value, name)
      if (!check(each, at, rule, part)) wrong(at, each, WORDS[rule] ?? 'what is expected here', holder)
    }
  }
  const check = (value: unknown, pointer: string, rule: ShapeRule, part: ShapePart): boolean => {
    if (Object.hasOwn(LEAVES, rule)) return LEAVES[rule as keyof typeof LEAVES](value)
    if (rule.endsWith('[]') || rule.endsWith('{}')) {
      const list = rule.endsWith('[]')
      if (list ? !Array.isArray(value) : !isMapping(value))
        wrong(pointer, value, list ? 'a list' : 'a mapping', part)
      else members(value as object, pointer, rule.slice(0, -2), part)
      return true
    }
    if (rule === 'Schema' && typeof value === 'boolean') return true
    if (!isMapping(value)) {
      wrong(pointer, value, rule === 'Schema' ? 'a schema' : 'a mapping', part)
      return true
    }
    // With aliases, one node can be at many locations.
    const before = known.get(value) ?? new Set()
    if (before.has(rule)) return true
    known.set(value, before.add(rule))
    if (EVERY[rule] !== undefined) members(value, pointer, EVERY[rule], part, KINDS[rule])
    if (typeof value.$ref === 'string' && KINDS[rule]?.$ref !== undefined)
      references.push({ pointer, node: value, ref: value.$ref })
    for (const [name, inner] of Object.entries(KINDS[rule]!)) {
      if (!Object.hasOwn(value, name)) continue
      const at = `${pointer}/${escapePointer(name)}`
      if (check(value[name], at, inner, partOf(inner, at, part, value, name))) continue
      const untidy = !NEEDED.test(name)
      wrong(at, value[name], WORDS[inner] ?? 'what is expected here', part, untidy)
      if (untidy) delete value[name]
    }
    return true
  }
  check(document, '', 'Document', { pointer: '', value: document, kind: 'part', cut: () => {} })
  return { faults, references }
}

const WORDS: Readonly<Record<string, string>> = {
  text: 'a string',
  flag: 'true or false',
  number: 'a number',
  bound: 'a number',
  factor: 'a number above 0',
  type: 'a type or a list of types',
  list: 'a list',
  texts: 'a list of strings',
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  return typeof value === 'string' ? 'a string' : (JSON.stringify(value) ?? String(value))
}
