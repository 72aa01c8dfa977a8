/**
 * Why a value was refused, asked only after a validator said no. The schemas of a document become small functions the
 * first time they are needed; a walk gives up each branch at its first fault and stops after `limit` faults, so that a
 * large bad body costs little more than a small one. One file, since it is copied into what is generated.
 */

/** One fault. `field` reads `fields[0].key`, empty for the value itself; `keyword` is the JSON Schema rule broken. */
export interface Fault {
  readonly field: string
  readonly issue: string
  readonly keyword: string
}

type Json = Readonly<Record<string, unknown>>
type Formats = Readonly<Record<string, (text: string) => boolean>>

interface Walk {
  readonly formats: Formats
  readonly faults: Fault[]
  readonly limit: number
  /** Names and indices from the value itself to where the walk stands: text is made of them for faults alone. */
  readonly path: (string | number)[]
}

/** Adds the faults of a value; nothing where it fits. */
type Check = (walk: Walk, value: unknown) => void
type CheckOf<Value> = (walk: Walk, value: Value) => void

/** What is known of a document, for all refusals to come. */
interface Known {
  readonly document: Json
  readonly openapi30: boolean
  readonly targets: Map<string, unknown>
  readonly checks: WeakMap<object, Check>
}

const documents = new WeakMap<Json, Known>()

function knownOf(document: Json): Known {
  const openapi30 = String(document.openapi).startsWith('3.0')
  const known = documents.get(document) ?? { document, openapi30, targets: new Map(), checks: new WeakMap() }
  documents.set(document, known)
  return known
}

/**
 * @param document the OpenAPI document as plain JSON; `pointer` (RFC 6901) names the schema in it.
 * @param formats judges of string formats, by name; others are not judged.
 * @returns at least one fault exactly when the value does not fit.
 */
export function explain(
  document: Json,
  pointer: string,
  value: unknown,
  formats: Formats,
  limit = 50,
): Fault[] {
  const known = knownOf(document)
  const walk: Walk = { formats, faults: [], limit, path: [] }
  try {
    checkOf(known, lookUp(known, pointer))?.(walk, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // The judges refuse it for the same reason.
    return [{ field: '', issue: 'is nested too deeply', keyword: 'depth' }]
  }
  return walk.faults
}

function lookUp({ document, targets }: Known, pointer: string): unknown {
  if (targets.has(pointer)) return targets.get(pointer)
  let at: unknown = document
  for (const token of pointer.split('/').slice(1)) {
    at = own(at, decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  targets.set(pointer, at)
  return at
}

/** A member that an object has itself: every object inherits `constructor`. */
function own(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined
  return (object as Json)[name]
}

const patterns = new Map<string, RegExp>()

/** JSON Schema means patterns in Unicode mode; one that is none there is read in the older one. */
function patternOf(text: string): RegExp {
  const known = patterns.get(text)
  if (known) return known
  let pattern: RegExp
  try {
    pattern = new RegExp(text, 'u')
  } catch {
    pattern = new RegExp(text)
  }
  patterns.set(text, pattern)
  return pattern
}

/** @param below names a member of where the walk stands, when the fault is about that. */
function fault(walk: Walk, keyword: string, issue: string, below?: string | number): void {
  if (walk.faults.length >= walk.limit) return
  const field = fieldOf(below === undefined ? walk.path : [...walk.path, below])
  walk.faults.push({ field, issue, keyword })
}

function fieldOf(path: readonly (string | number)[]): string {
  let field = ''
  for (const each of path) {
    if (typeof each === 'number') field += `[${each}]`
    else field += field === '' ? each : `.${each}`
  }
  return field
}

const isFull = (walk: Walk): boolean => walk.faults.length >= walk.limit

function checkBelow(walk: Walk, check: Check, value: unknown, below: string | number): void {
  walk.path.push(below)
  check(walk, value)
  walk.path.pop()
}

/** @returns undefined for a schema that everything fits. */
function checkOf(known: Known, schema: unknown): Check | undefined {
  if (schema === false) return (walk) => fault(walk, 'false', 'is not allowed')
  if (typeof schema !== 'object' || schema === null) return undefined
  const made = known.checks.get(schema) ?? makeCheck(known, schema as Json)
  known.checks.set(schema, made)
  return made
}

function makeCheck(known: Known, rules: Json): Check {
  if (typeof rules.$ref === 'string') return makeReference(known, rules, rules.$ref)
  const { types, wanted } = typesOf(rules)
  const nullable = rules.nullable === true
  const ofEnum = makeEnum(rules)
  const ofString = makeString(rules)
  const ofNumber = makeNumber(rules)
  const ofArray = makeArray(known, rules)
  const ofObject = makeObject(known, rules)
  const composed = makeComposition(known, rules)
  return (walk, value) => {
    if ((nullable && value === null) || isFull(walk)) return
    if (types && !types.some((type) => hasType(value, type))) return fault(walk, 'type', wanted)
    const before = walk.faults.length
    ofEnum?.(walk, value)
    if (typeof value === 'string') ofString?.(walk, value)
    else if (typeof value === 'number') ofNumber?.(walk, value)
    else if (Array.isArray(value)) ofArray?.(walk, value)
    else if (typeof value === 'object' && value !== null) ofObject?.(walk, value as Json)
    if (composed && walk.faults.length === before) composed(walk, value)
  }
}

/** Keywords beside `$ref` that judge nothing. */
export const PROSE: ReadonlySet<string> = new Set([
  '$ref',
  '$comment',
  'title',
  'description',
  'summary',
  'deprecated',
  'default',
  'example',
  'examples',
  'externalDocs',
  'readOnly',
  'writeOnly',
  'xml',
])

/** What stands beside a reference holds as well since 3.1, and is ignored before. */
function makeReference(known: Known, rules: Json, ref: string): Check {
  const { $ref: _, ...rest } = rules
  const judging = Object.keys(rest).some((name) => !PROSE.has(name) && !name.startsWith('x-'))
  const beside = judging && !known.openapi30 ? makeCheck(known, rest) : undefined
  let target: Check | undefined
  let found = false
  return (walk, value) => {
    if (!found) {
      // Now and not before: schemas may lead back to themselves.
      target = checkOf(known, lookUp(known, ref.slice(1)))
      found = true
    }
    target?.(walk, value)
    beside?.(walk, value)
  }
}

/** Keywords that speak of one type only: a schema that has one of them and no `type` is read as that type. */
export const SPEAKS_OF: readonly (readonly [type: string, keywords: readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'minProperties',
      'maxProperties',
    ],
  ],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

function typesOf(rules: Json): { types: readonly string[] | undefined; wanted: string } {
  let types: readonly string[] | undefined
  if (typeof rules.type === 'string') types = [rules.type]
  else if (Array.isArray(rules.type)) types = rules.type
  else if (!('enum' in rules) && !('const' in rules)) {
    const implied = SPEAKS_OF.find(([, keywords]) => keywords.some((keyword) => keyword in rules))
    types = implied && [implied[0]]
  }
  const named = (types ?? []).map((type) =>
    type === 'null' ? 'null' : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`,
  )
  return { types, wanted: `must be ${named.join(' or ')}` }
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    default:
      return typeof value === type
  }
}

function makeEnum(rules: Json): Check | undefined {
  const { enum: values } = rules
  if ('const' in rules) {
    return (walk, value) => {
      if (value !== rules.const) fault(walk, 'const', `must be ${JSON.stringify(rules.const)}`)
    }
  }
  if (!Array.isArray(values) || values.some((each) => typeof each === 'object' && each !== null))
    return undefined
  const shown = values.slice(0, 12).map((member) => JSON.stringify(member))
  const issue = `must be one of ${shown.join(', ')}${values.length > 12 ? ', …' : ''}`
  return (walk, value) => {
    if (!values.includes(value)) fault(walk, 'enum', issue)
  }
}

/** Characters as JSON Schema counts them: code points. */
function codePoints(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

const numberIn = (rules: Json, name: string): number | undefined =>
  typeof rules[name] === 'number' ? rules[name] : undefined

function makeString(rules: Json): CheckOf<string> | undefined {
  const [least, most] = [numberIn(rules, 'minLength'), numberIn(rules, 'maxLength')]
  const pattern = typeof rules.pattern === 'string' ? patternOf(rules.pattern) : undefined
  const format = typeof rules.format === 'string' ? rules.format : undefined
  if (least === undefined && most === undefined && !pattern && format === undefined) return undefined
  return (walk, text) => {
    if (most !== undefined && text.length > most && (text.length > 2 * most || codePoints(text) > most)) {
      return fault(walk, 'maxLength', `must have at most ${count(most, 'character')}`)
    }
    if (least !== undefined && text.length < 2 * least && codePoints(text) < least) {
      return fault(walk, 'minLength', `must have at least ${count(least, 'character')}`)
    }
    if (pattern && !pattern.test(text)) {
      return fault(walk, 'pattern', `must match the pattern ${String(rules.pattern)}`)
    }
    const judge =
      format !== undefined && Object.hasOwn(walk.formats, format) ? walk.formats[format] : undefined
    if (judge && !judge(text)) fault(walk, 'format', `must be a valid ${format}`)
  }
}

function makeNumber(rules: Json): CheckOf<number> | undefined {
  const narrow = rules.format === 'int32'
  const least = numberIn(rules, 'minimum') ?? (narrow ? -(2 ** 31) : undefined)
  const most = numberIn(rules, 'maximum') ?? (narrow ? 2 ** 31 - 1 : undefined)
  // 3.0 writes a flag beside the bound, 3.1 the bound itself.
  const above = rules.exclusiveMinimum === true ? least : numberIn(rules, 'exclusiveMinimum')
  const below = rules.exclusiveMaximum === true ? most : numberIn(rules, 'exclusiveMaximum')
  const step = numberIn(rules, 'multipleOf')
  if ([least, most, above, below, step].every((each) => each === undefined)) return undefined
  return (walk, value) => {
    if (above !== undefined && value <= above)
      fault(walk, 'exclusiveMinimum', `must be greater than ${above}`)
    else if (least !== undefined && value < least) fault(walk, 'minimum', `must be at least ${least}`)
    if (below !== undefined && value >= below) fault(walk, 'exclusiveMaximum', `must be less than ${below}`)
    else if (most !== undefined && value > most) fault(walk, 'maximum', `must be at most ${most}`)
    if (step !== undefined && !isMultiple(value, step)) {
      fault(walk, 'multipleOf', `must be a multiple of ${step}`)
    }
  }
}

/**
 * Whether one decimal number is a multiple of another, as both are written: 0.07 of 0.01. In binary neither is what it
 * says, so their shortest spellings are compared.
 */
export function isMultiple(value: number, step: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(step)) return value % step === 0
  const [a, b] = [decimalOf(value), decimalOf(step)]
  if (b.digits === 0n) return false
  const shift = a.exponent - b.exponent
  return shift < 0
    ? a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n
    : (a.digits * 10n ** BigInt(shift)) % b.digits === 0n
}

/** Whole digits, times a power of ten. */
function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [coefficient = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = coefficient.split('.')
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length }
}

function makeArray(known: Known, rules: Json): CheckOf<readonly unknown[]> | undefined {
  const [least, most] = [numberIn(rules, 'minItems'), numberIn(rules, 'maxItems')]
  const prefix = (Array.isArray(rules.prefixItems) ? rules.prefixItems : []).map((each) =>
    checkOf(known, each),
  )
  const each = rules['x-judged'] === 'each' ? undefined : checkOf(known, rules.items)
  return (walk, list) => {
    if (least !== undefined && list.length < least) {
      return fault(walk, 'minItems', `must have at least ${count(least, 'item')}`)
    }
    if (most !== undefined && list.length > most) {
      return fault(walk, 'maxItems', `must have at most ${count(most, 'item')}`)
    }
    for (let index = 0; index < list.length && !isFull(walk); index++) {
      const check = index < prefix.length ? prefix[index] : each
      if (check) checkBelow(walk, check, list[index], index)
      else if (index >= prefix.length) break
    }
    if (rules.uniqueItems === true && !isFull(walk)) checkUnique(walk, list)
  }
}

function checkUnique(walk: Walk, list: readonly unknown[]): void {
  const scalars = new Set<unknown>()
  const others = new Set<string>()
  for (const [index, item] of list.entries()) {
    const other = typeof item === 'object' && item !== null ? canonical(item) : undefined
    if (other === undefined ? scalars.has(item) : others.has(other)) {
      return fault(walk, 'uniqueItems', 'repeats an earlier item', index)
    }
    if (other === undefined) scalars.add(item)
    else others.add(other)
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical((value as Json)[name])}`).join()}}`
}

function makeObject(known: Known, rules: Json): CheckOf<Json> | undefined {
  const [least, most] = [numberIn(rules, 'minProperties'), numberIn(rules, 'maxProperties')]
  const required = (Array.isArray(rules.required) ? rules.required : []).map(String)
  const member = makeMember(known, rules)
  const named = checkOf(known, rules.propertyNames)
  return (walk, object) => {
    if (least !== undefined || most !== undefined) {
      const size = Object.keys(object).length
      if (least !== undefined && size < least) {
        fault(walk, 'minProperties', `must have at least ${count(least, 'member')}`)
      }
      if (most !== undefined && size > most) {
        return fault(walk, 'maxProperties', `must have at most ${count(most, 'member')}`)
      }
    }
    for (const name of required)
      if (own(object, name) === undefined) fault(walk, 'required', 'is required', name)
    if (!member && !named) return
    for (const name in object) {
      if (isFull(walk)) return
      if (named) checkBelow(walk, named, name, name)
      const value = object[name]
      if (member && value !== undefined) member(walk, value, name)
    }
  }
}

/** What holds for the members of an object; undefined when anything does. */
function makeMember(
  known: Known,
  rules: Json,
): ((walk: Walk, value: unknown, name: string) => void) | undefined {
  const properties = new Map(
    Object.entries((rules.properties ?? {}) as Json).map(
      ([name, each]) => [name, checkOf(known, each)] as const,
    ),
  )
  const named = Object.entries((rules.patternProperties ?? {}) as Json).map(
    ([pattern, each]) => [patternOf(pattern), checkOf(known, each)] as const,
  )
  const closed = rules.additionalProperties === false
  const rest = closed ? undefined : checkOf(known, rules.additionalProperties)
  if (properties.size === 0 && named.length === 0 && !closed && !rest) return undefined
  return (walk, value, name) => {
    let matched = properties.has(name)
    const own = properties.get(name)
    if (own) checkBelow(walk, own, value, name)
    for (const [pattern, each] of named) {
      if (!pattern.test(name)) continue
      matched = true
      if (each) checkBelow(walk, each, value, name)
    }
    if (matched) return
    if (closed) fault(walk, 'additionalProperties', 'is not a known property', name)
    else if (rest) checkBelow(walk, rest, value, name)
  }
}

function makeComposition(known: Known, rules: Json): Check | undefined {
  const checks = (Array.isArray(rules.allOf) ? rules.allOf : []).flatMap((each) => checkOf(known, each) ?? [])
  for (const mode of ['anyOf', 'oneOf'] as const) {
    const members = rules[mode]
    if (Array.isArray(members)) checks.push(makeUnion(known, rules, mode, members))
  }
  if (checks.length === 0) return undefined
  return (walk, value) => {
    for (const check of checks) check(walk, value)
  }
}

/** The tagged member's own faults where there is a tag, otherwise those of the member that came closest. */
function makeUnion(known: Known, rules: Json, mode: 'anyOf' | 'oneOf', members: readonly unknown[]): Check {
  const checks = members.map((member) => checkOf(known, member))
  const tag = own(rules.discriminator, 'propertyName')
  let tagged: ReadonlyMap<unknown, Check | undefined> | undefined
  return (walk, value) => {
    if (typeof tag === 'string' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      tagged ??= membersByTag(known, rules, members, checks, tag)
      const given = own(value, tag)
      if (tagged.has(given)) return tagged.get(given)?.(walk, value)
      const values = [...tagged.keys()].map((each) => JSON.stringify(each))
      return fault(walk, 'discriminator', `must be one of ${values.join(', ')}`, tag)
    }
    const attempts: (readonly Fault[])[] = []
    let fitting = 0
    for (const check of checks) {
      const faults = attempt(walk, check, value)
      attempts.push(faults)
      if (faults.length > 0) continue
      // One is enough for anyOf, and the rest costs.
      if (mode === 'anyOf') return
      fitting++
    }
    if (fitting === 1) return
    if (fitting > 1) return fault(walk, 'oneOf', 'fits more than one of the alternatives')
    const field = fieldOf(walk.path)
    const closest = attempts.filter(
      (faults) => !faults.some((each) => each.field === field && each.keyword === 'type'),
    )
    if (closest.length === 1) walk.faults.push(...closest[0]!)
    else fault(walk, mode, 'fits none of the alternatives')
  }
}

const NONE: readonly Fault[] = []

function attempt(walk: Walk, check: Check | undefined, value: unknown): readonly Fault[] {
  if (!check) return NONE
  const { formats, path, limit } = walk
  const faults: Fault[] = []
  check({ formats, path, faults, limit: limit - walk.faults.length }, value)
  return faults
}

/** The member that each value of the tag stands for: by the members' own constants, or else by mapping and name. */
function membersByTag(
  known: Known,
  rules: Json,
  members: readonly unknown[],
  checks: readonly (Check | undefined)[],
  tag: string,
): ReadonlyMap<unknown, Check | undefined> {
  const constants = members.map((member) => constantsOf(known, member, tag))
  const stated = constants.every((each) => each.length > 0)
  const mapping = Object.entries((own(rules.discriminator, 'mapping') ?? {}) as Json)
  const byTag = new Map<unknown, Check | undefined>()
  for (const [index, member] of members.entries()) {
    const values = stated ? constants[index]! : mappedValues(member, mapping)
    for (const value of values) if (!byTag.has(value)) byTag.set(value, checks[index])
  }
  return byTag
}

function constantsOf(known: Known, member: unknown, tag: string): readonly unknown[] {
  const parts = partsOf(known, member, 0)
  if (!parts.some((part) => Array.isArray(part.required) && part.required.includes(tag))) return []
  for (const part of parts) {
    for (const rules of partsOf(known, own(part.properties, tag), 0)) {
      if ('const' in rules) return [rules.const]
      if (Array.isArray(rules.enum)) return rules.enum
    }
  }
  return []
}

/** A schema and what it is made of: references followed, `allOf` opened. */
function partsOf(known: Known, schema: unknown, depth: number): Json[] {
  if (typeof schema !== 'object' || schema === null || depth > 20) return []
  const rules = schema as Json
  const target = typeof rules.$ref === 'string' ? lookUp(known, rules.$ref.slice(1)) : undefined
  const all = Array.isArray(rules.allOf) ? rules.allOf : []
  return [rules, ...[target, ...all].flatMap((each) => partsOf(known, each, depth + 1))]
}

function mappedValues(member: unknown, mapping: readonly (readonly [string, unknown])[]): unknown[] {
  const ref = own(member, '$ref')
  if (typeof ref !== 'string') return []
  const name = decodeURIComponent(ref.split('/').at(-1) ?? '')
  const values = mapping.filter(([, target]) => target === ref || target === name)
  return values.length > 0 ? values.map(([value]) => value) : [name]
}

const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
