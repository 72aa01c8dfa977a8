/**
 * A schema as a JavaScript function that says whether a value fits: no error objects, no coercion, one pass, the
 * cheapest question first. `explain` says why, after a refusal. References have no names until all are known.
 */

import type { Place } from '../../diagnostics/place.ts'
import { isValidatedEach } from '../../ir/bodies.ts'
import type { Api, Schema } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { tagsOf } from '../../ir/tags.ts'
import { type Code, code, joinCode, printCode } from '../../print/code.ts'
import { literal, member, stringLiteral } from '../../print/literal.ts'
import type { Constants } from './constants.ts'
import { printPattern, STRING_FORMATS } from './functions.ts'

type Of<Kind extends Schema['kind']> = Extract<Schema, { kind: Kind }>

/** One validator: its function and those it is made of. */
export interface ValidatorCode {
  readonly code: Code
  /** Components whose validators it calls. */
  readonly refs: ReadonlySet<string>
}

interface Writer {
  readonly api: Api
  readonly constants: Constants
  /** First part of the name of a constant that is made for a place of the schema: `Dispute$evidence_`. */
  readonly ownerOf: (place: Place) => string
  readonly refs: Set<string>
  /** Functions for members of unions that are no expression. */
  readonly parts: Code[]
  variables: number
}

/** @param name what the validator is exported as; its constants are called after it. @returns the code of a schema's validator. */
export function writeValidator(name: string, schema: Schema, api: Api, constants: Constants): ValidatorCode {
  const ownerOf = (place: Place) => `${name}$${pathWithin(schema.place, place)}`
  const writer: Writer = { api, constants, ownerOf, refs: new Set(), parts: [], variables: 0 }
  const body = bodyOf(schema, writer)
  return { code: joinCode([...writer.parts, printFunction(0, body)], '\n'), refs: writer.refs }
}

/** Words of a schema object between names that the document gives. */
const KEYWORDS = /^(?:properties|items|schema|oneOf|anyOf|allOf|additionalProperties|patternProperties|\d+)$/

/** Names of properties on the way from a schema to one inside it, each followed by `_`; empty for itself. */
function pathWithin(schema: Place, inside: Place): string {
  if (!inside.pointer.startsWith(`${schema.pointer}/`)) return ''
  const names = inside.pointer.slice(schema.pointer.length + 1).split('/')
  return names
    .filter((name) => !KEYWORDS.test(name))
    .map((name) => `${identifier(name.replaceAll('$', '_'))}_`)
    .join('')
}

const GIVEN: Code = { given: true }

/** @param self 0 for the validator itself; its parts count from 1. */
const printFunction = (self: number, body: Code): Code => code`function ${{ self }}(v${GIVEN}) {\n${body}}\n`

/**
 * @param self the validator's own name.
 * @param nameOf the name of a component's validator.
 * @param given further parameters, which all functions of the validator hand on.
 * @returns the validator's text.
 */
export function nameValidator(
  { code: validator }: ValidatorCode,
  self: string,
  nameOf: (component: string) => string,
  given: readonly string[] = [],
): string {
  return printCode(validator, (reference) => {
    if ('component' in reference) return nameOf(reference.component)
    if ('given' in reference) return given.map((name) => `, ${name}`).join('')
    return reference.self === 0 ? self : `${self}$${reference.self}`
  })
}

function bodyOf(schema: Schema, writer: Writer): Code {
  const expression = fits(schema, 'v', writer)
  if (expression !== undefined) return code`  return ${expression}\n`
  const lines = check(schema, 'v', writer, false).map((line) => code`  ${line}\n`)
  return [...lines, '  return true\n']
}

/** An expression that is true when the value fits; undefined for what takes statements. */
function fits(schema: Schema, v: string, writer: Writer): Code | undefined {
  if (schema.partial) return `${writer.constants.compile(writer.api, schema.place)}(${v})`
  const plain = fitsPlain(schema, v, writer)
  if (plain === undefined || !schema.nullable || plain === 'true') return plain
  return code`(${v} === null || ${plain})`
}

function fitsPlain(schema: Schema, v: string, writer: Writer): Code | undefined {
  switch (schema.kind) {
    case 'any':
      return 'true'
    case 'never':
      return 'false'
    case 'null':
      return `${v} === null`
    case 'boolean':
      return `typeof ${v} === 'boolean'`
    case 'number':
      return fitsNumber(schema, v, writer)
    case 'string':
      return fitsString(schema, v, writer)
    case 'enum':
      return fitsEnum(schema, v, writer)
    case 'ref':
      writer.refs.add(schema.name)
      return code`${{ component: schema.name }}(${v})`
    case 'union':
      return fitsUnion(schema, v, writer)
    default:
      return undefined
  }
}

const all = (conditions: readonly (string | false | undefined)[]): string => {
  const kept = conditions.filter((each) => each)
  if (kept.length === 0) return 'true'
  return kept.length === 1 ? String(kept[0]) : `(${kept.join(' && ')})`
}

const above = (sign: string, v: string, bound: number | undefined) =>
  bound !== undefined && `${v} ${sign} ${bound}`

function fitsNumber(schema: Of<'number'>, v: string, { constants }: Writer): string {
  // int32 is bounds in disguise; int64, float and double say nothing about JSON.
  const narrow = schema.format === 'int32'
  const fitting = all([
    // JSON.parse makes Infinity of 1e400.
    schema.integer ? `Number.isInteger(${v})` : `Number.isFinite(${v})`,
    above('>=', v, schema.minimum ?? (narrow ? -(2 ** 31) : undefined)),
    above('<=', v, schema.maximum ?? (narrow ? 2 ** 31 - 1 : undefined)),
    above('>', v, schema.exclusiveMinimum),
    above('<', v, schema.exclusiveMaximum),
    schema.multipleOf !== undefined && `${constants.call('isMultiple')}(${v}, ${schema.multipleOf})`,
  ])
  return schema.untyped ? `(typeof ${v} !== 'number' || ${fitting})` : fitting
}

function fitsString(schema: Of<'string'>, v: string, writer: Writer): string {
  const { minLength: least = 0, maxLength: most, pattern, format } = schema
  const { constants } = writer
  const owner = writer.ownerOf(schema.place)
  const longer =
    most !== undefined &&
    `(${v}.length <= ${most} || (${v}.length <= ${2 * most} && ${constants.call('length')}(${v}) <= ${most}))`
  const shorter =
    least === 1
      ? `${v} !== ''`
      : least > 1 && `(${v}.length >= ${2 * least} || ${constants.call('length')}(${v}) >= ${least})`
  const fitting = all([
    !schema.untyped && `typeof ${v} === 'string'`,
    // Length first: a pattern then never runs over more than it allows.
    longer,
    shorter,
    pattern !== undefined && `${constants.define(`${owner}pattern`, printPattern(pattern))}.test(${v})`,
    format !== undefined &&
      STRING_FORMATS.includes(format) &&
      `${constants.define(`${owner}format`, `${constants.call('format')}(${stringLiteral(format)})`)}(${v})`,
  ])
  return schema.untyped ? `(typeof ${v} !== 'string' || ${fitting})` : fitting
}

function fitsEnum(schema: Of<'enum'>, v: string, writer: Writer): string {
  const { values } = schema
  if (values.length === 0) return 'false'
  if (values.length > 4) {
    const name = `${writer.ownerOf(schema.place)}values`
    return `${writer.constants.define(name, `new Set(${literal(values)})`)}.has(${v})`
  }
  const each = values.map((value) => `${v} === ${literal(value)}`)
  return each.length === 1 ? each[0]! : `(${each.join(' || ')})`
}

/** A union as an expression; members that take statements become functions of their own. */
function fitsUnion(schema: Of<'union'>, v: string, writer: Writer): Code | undefined {
  if (tagsOf(schema, writer.api)) return undefined
  const members = schema.members.map((each) => fits(each, v, writer) ?? callPart(each, v, writer))
  if (members.length === 0) return 'false'
  if (members.length === 1) return members[0]!
  if (schema.mode === 'anyOf' || areDisjoint(schema.members, writer.api))
    return code`(${joinCode(members, ' || ')})`
  return code`${joinCode(
    members.map((each) => code`(${each})`),
    ' + ',
  )} === 1`
}

/** A call of a function for a member that takes statements. */
function callPart(schema: Schema, v: string, writer: Writer): Code {
  const body = bodyOf(schema, writer)
  const self = writer.parts.length + 1
  writer.parts.push(printFunction(self, body))
  return code`${{ self }}(${v}${GIVEN})`
}

/** Whether no value can fit two of the members, since their JSON types differ: then the first that fits settles it. */
function areDisjoint(members: readonly Schema[], api: Api): boolean {
  const seen = new Set<string>()
  for (const each of members) {
    const types = jsonTypes(each, api, new Set())
    if (!types || each.nullable || types.some((type) => seen.has(type))) return false
    for (const type of types) seen.add(type)
  }
  return true
}

function jsonTypes(schema: Schema, api: Api, seen: Set<string>): string[] | undefined {
  if (schema.nullable || schema.untyped || schema.partial) return undefined
  switch (schema.kind) {
    case 'null':
    case 'boolean':
    case 'number':
    case 'string':
    case 'array':
    case 'object':
      return [schema.kind]
    case 'enum':
      return [...new Set(schema.values.map((value) => (value === null ? 'null' : typeof value)))]
    case 'ref': {
      const target = api.schemas.get(schema.name)
      if (!target || seen.has(schema.name)) return undefined
      return jsonTypes(target, api, seen.add(schema.name))
    }
    default:
      return undefined
  }
}

/** Statements that return false when the value does not fit. @param known whether it is known to be an object. */
function check(schema: Schema, v: string, writer: Writer, known: boolean): Code[] {
  const expression = fits(schema, v, writer)
  if (expression === 'true') return []
  if (expression !== undefined) return [code`if (!${bracket(expression)}) return false`]
  const lines = checkPlain(schema, v, writer, known && !schema.nullable)
  return schema.nullable ? [`if (${v} !== null) {`, ...indent(lines), '}'] : lines
}

const bracket = (expression: Code): Code => {
  const text = printCode(expression, (reference) => ('given' in reference ? '' : 'name'))
  const single = /^[\w$.]+\([^()]*\)$/.test(text) || /^\((?:[^()]|\([^()]*\))*\)$/.test(text)
  return single ? expression : code`(${expression})`
}

const indent = (lines: readonly Code[]): Code[] => lines.map((line) => code`  ${line}`)

function checkPlain(schema: Schema, v: string, writer: Writer, known: boolean): Code[] {
  switch (schema.kind) {
    case 'array':
      return schema.untyped
        ? onlyIf(`Array.isArray(${v})`, checkArray(schema, v, writer))
        : checkArray(schema, v, writer)
    case 'object':
      if (known) return checkObject(schema, v, writer)
      return schema.untyped
        ? onlyIf(`${writer.constants.call('isObject')}(${v})`, checkObject(schema, v, writer))
        : [notObject(v, writer), ...checkObject(schema, v, writer)]
    case 'union':
      return checkTagged(schema, v, writer, known)
    case 'intersection':
      return checkAll(schema, v, writer, known)
    default:
      throw new Error(`a schema of kind ${schema.kind} is an expression`)
  }
}

const onlyIf = (condition: string, lines: readonly Code[]): Code[] =>
  lines.length === 0 ? [] : [`if (${condition}) {`, ...indent(lines), '}']

const variable = (writer: Writer, prefix = 'v'): string => `${prefix}${++writer.variables}`

const notObject = (v: string, writer: Writer): string =>
  `if (!${writer.constants.call('isObject')}(${v})) return false`

function checkArray(schema: Of<'array'>, v: string, writer: Writer): Code[] {
  const { minItems, maxItems, prefix } = schema
  const bounds = [
    !schema.untyped && `!Array.isArray(${v})`,
    minItems !== undefined && minItems > 0 && `${v}.length < ${minItems}`,
    maxItems !== undefined && `${v}.length > ${maxItems}`,
  ].filter((each) => each)
  const lines: Code[] = bounds.length > 0 ? [`if (${bounds.join(' || ')}) return false`] : []
  for (const [index, each] of prefix.entries()) {
    const item = variable(writer)
    const inner = check(each, item, writer, false)
    if (inner.length > 0)
      lines.push(`if (${v}.length > ${index}) {`, `  const ${item} = ${v}[${index}]`, ...indent(inner), '}')
  }
  const item = variable(writer)
  const at = variable(writer, 'i')
  const inner = isValidatedEach(schema) ? [] : check(schema.items, item, writer, false)
  if (inner.length > 0) {
    lines.push(`for (let ${at} = ${prefix.length}; ${at} < ${v}.length; ${at}++) {`)
    lines.push(`  const ${item} = ${v}[${at}]`, ...indent(inner), '}')
  }
  if (schema.uniqueItems) lines.push(`if (!${writer.constants.call('unique')}(${v})) return false`)
  return lines
}

function checkAll(schema: Of<'intersection'>, v: string, writer: Writer, known: boolean): Code[] {
  const lines: Code[] = []
  let object = known
  for (const each of schema.members) {
    lines.push(...check(each, v, writer, object))
    object ||= each.kind === 'object' && !each.nullable && !each.untyped && !each.partial
  }
  return lines
}

function checkTagged(schema: Of<'union'>, v: string, writer: Writer, known: boolean): Code[] {
  const tags = tagsOf(schema, writer.api)!
  const byMember = new Map<Schema, string[]>()
  for (const [value, each] of tags.members) byMember.set(each, [...(byMember.get(each) ?? []), value])
  const cases = [...byMember].flatMap(([each, values]) => [
    ...values.map((value) => `  case ${stringLiteral(value)}:`),
    ...indent(indent(check(each, v, writer, each.kind !== 'ref'))),
    '    break',
  ])
  return [
    ...(known ? [] : [notObject(v, writer)]),
    `switch (${property(v, tags.property, writer)}) {`,
    ...cases,
    '  default:',
    '    return false',
    '}',
  ]
}

/** Access to a property, which must be the object's own where every object inherits one of this name. */
function property(v: string, name: string, writer: Writer): string {
  return name in Object.prototype
    ? `${writer.constants.call('own')}(${v}, ${stringLiteral(name)})`
    : `${v}${member(name)}`
}

function checkObject(schema: Of<'object'>, v: string, writer: Writer): Code[] {
  const { properties, minProperties: least, maxProperties: most } = schema
  const lines: Code[] = []
  if (least !== undefined || most !== undefined) {
    const size = variable(writer, 'n')
    const wrong = [least !== undefined && `${size} < ${least}`, most !== undefined && `${size} > ${most}`]
    lines.push(`const ${size} = Object.keys(${v}).length`)
    lines.push(`if (${wrong.filter((each) => each).join(' || ')}) return false`)
  }
  const counted =
    schema.additional === 'closed' && schema.patterns.length === 0 ? variable(writer, 'n') : undefined
  const required = properties.filter((each) => each.required)
  if (counted) lines.push(`let ${counted} = ${required.length}`)
  // What must be there first: a body that lacks it costs next to nothing.
  for (const each of required) lines.push(...checkRequired(each, v, writer))
  for (const each of properties) if (!each.required) lines.push(...checkOptional(each, v, writer, counted))
  const names = properties.map((each) => each.name)
  if (counted)
    lines.push(
      `if (!${writer.constants.call('closed')}(${v}, ${counted}, ${nameSet(schema, names, writer)})) return false`,
    )
  lines.push(...checkNames(schema, v, names, writer))
  return lines
}

const nameSet = (schema: Schema, names: readonly string[], writer: Writer): string =>
  writer.constants.define(`${writer.ownerOf(schema.place)}properties`, `new Set(${literal(names)})`)

/** Kinds whose checks refuse undefined by themselves. */
const REFUSES_UNDEFINED: readonly string[] = [
  'null',
  'boolean',
  'number',
  'string',
  'enum',
  'array',
  'object',
]

function checkRequired(each: Of<'object'>['properties'][number], v: string, writer: Writer): Code[] {
  const access = property(v, each.name, writer)
  if (each.schema.kind === 'any') return [`if (${access} === undefined) return false`]
  const inner = variable(writer)
  const lines = check(each.schema, inner, writer, false)
  const there =
    REFUSES_UNDEFINED.includes(each.schema.kind) && !each.schema.untyped && !each.schema.partial
      ? []
      : [`if (${inner} === undefined) return false`]
  return [`const ${inner} = ${access}`, ...there, ...lines]
}

function checkOptional(
  each: Of<'object'>['properties'][number],
  v: string,
  writer: Writer,
  counted: string | undefined,
): Code[] {
  const inner = variable(writer)
  const lines = [...(counted ? [`${counted}++`] : []), ...check(each.schema, inner, writer, false)]
  if (lines.length === 0) return []
  const access = property(v, each.name, writer)
  return [`const ${inner} = ${access}`, `if (${inner} !== undefined) {`, ...indent(lines), '}']
}

/** What holds for names and for properties that are not listed: the only part that walks over all of them. */
function checkNames(schema: Of<'object'>, v: string, names: readonly string[], writer: Writer): Code[] {
  const { additional, patterns, propertyNames } = schema
  const rest = typeof additional === 'object' ? additional : undefined
  const name = variable(writer, 'k')
  const value = variable(writer)
  const inner = propertyNames ? check(propertyNames, name, writer, false) : []
  const listed = names.length > 0 ? `${nameSet(schema, names, writer)}.has(${name})` : undefined
  const restLines = rest
    ? check(rest, value, writer, false)
    : additional === 'closed' && patterns.length > 0
      ? ['return false']
      : []
  if (patterns.length > 0) {
    const hit = variable(writer, 'p')
    inner.push(`const ${value} = ${v}[${name}]`, `let ${hit} = false`)
    for (const each of patterns) {
      const pattern = writer.constants.define(
        `${writer.ownerOf(schema.place)}pattern`,
        printPattern(each.pattern),
      )
      inner.push(
        `if (${pattern}.test(${name})) {`,
        `  ${hit} = true`,
        ...indent(check(each.schema, value, writer, false)),
        '}',
      )
    }
    if (restLines.length > 0)
      inner.push(`if (!${hit}${listed ? ` && !${listed}` : ''}) {`, ...indent(restLines), '}')
  } else if (restLines.length > 0) {
    if (listed) inner.push(`if (${listed}) continue`)
    inner.push(`const ${value} = ${v}[${name}]`, ...restLines)
  }
  return inner.length === 0 ? [] : [`for (const ${name} in ${v}) {`, ...indent(inner), '}']
}
