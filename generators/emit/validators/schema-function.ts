/**
 * Prints a schema as a JavaScript function that returns whether a value is valid: without error objects or
 * coercion, in one pass, with the cheapest checks first. `explain` finds the reasons after a rejection. References
 * are resolved to names once all are known.
 */

import type { SourceLocation } from '../../diagnostics/place.ts'
import { isValidatedEach } from '../../ir/bodies.ts'
import type { Api, Schema } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { tagsOf } from '../../ir/tags.ts'
import { type Code, code, joinCode, printCode } from '../../print/code.ts'
import { literal, member, stringLiteral } from '../../print/literal.ts'
import type { Constants } from './constants.ts'
import { areDisjoint } from './disjoint.ts'
import { OWN_NAMES, printPattern } from './functions.ts'
import { fitsEnum, fitsNumber, fitsString, type Of, type ScalarWriter } from './scalars.ts'

/** A validator: its function and parts. */
export interface ValidatorCode {
  readonly code: Code
  /** Components whose validators it calls. */
  readonly refs: ReadonlySet<string>
}

interface Writer extends ScalarWriter {
  readonly api: Api
  readonly refs: Set<string>
  /** Functions for union members that cannot be written as expressions. */
  readonly parts: Code[]
  /** Variable names of the current function, and reserved names. */
  readonly locals: Set<string>
}

/**
 * Returns the code of a schema's validator.
 *
 * @param name export name of the validator, which is also the prefix of its constants.
 */
export function writeValidator(name: string, schema: Schema, api: Api, constants: Constants): ValidatorCode {
  const ownerOf = (place: SourceLocation) => `${name}$${pathWithin(schema.place, place)}`
  const writer: Writer = {
    api,
    constants,
    types: api.types,
    ownerOf,
    refs: new Set(),
    parts: [],
    locals: createLocals(),
  }
  const body = bodyOf(schema, writer)
  return { code: joinCode([...writer.parts, printFunction(0, body)], '\n'), refs: writer.refs }
}

/** Keywords in pointers, as opposed to names from the document. */
const KEYWORDS = /^(?:properties|items|schema|oneOf|anyOf|allOf|additionalProperties|patternProperties|\d+)$/

/**
 * Returns the property names on the path from a schema to a nested one, each followed by `_`; empty for the schema
 * itself.
 */
function pathWithin(schema: SourceLocation, inside: SourceLocation): string {
  if (!inside.pointer.startsWith(`${schema.pointer}/`)) return ''
  const names = inside.pointer.slice(schema.pointer.length + 1).split('/')
  return names
    .filter((name) => !KEYWORDS.test(name))
    .map((name) => `${identifier(name.replaceAll('$', '_'))}_`)
    .join('')
}

const GIVEN: Code = { given: true }

/** The parameter of a validator. */
const VALUE = 'value'

/** @param self 0 for the validator itself; its parts are numbered from 1. */
const printFunction = (self: number, body: Code): Code =>
  code`function ${{ self }}(${VALUE}${GIVEN}) {\n${body}}\n`

/**
 * Prints a validator with its names.
 *
 * @param self the validator's name.
 * @param nameOf returns the name of a component's validator.
 * @param given additional parameters, which all functions of the validator pass on.
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
  const expression = fits(schema, VALUE, writer)
  if (expression !== undefined) return code`  return ${expression}\n`
  const lines = check(schema, VALUE, writer, false).map((line) => code`  ${line}\n`)
  return [...lines, '  return true\n']
}

/** Returns an expression that is true if the value fits; undefined if the schema needs statements. */
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

/** Returns a union as an expression; members that need statements become separate functions. */
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

/** Returns a call of a new function for a member that needs statements. */
function callPart(schema: Schema, v: string, writer: Writer): Code {
  const body = bodyOf(schema, { ...writer, locals: createLocals() })
  const self = writer.parts.length + 1
  writer.parts.push(printFunction(self, body))
  return code`${{ self }}(${v}${GIVEN})`
}

/**
 * Returns statements that return false if the value does not fit.
 *
 * @param known whether the value is known to be an object.
 */
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

const createLocals = (): Set<string> => new Set([VALUE, ...OWN_NAMES])

/**
 * Returns a variable name that describes the value: `cardholder_id`, `data_item`.
 *
 * @param v the enclosing variable, whose name becomes the prefix unless it is the whole value.
 */
function variable(writer: Writer, v: string, wanted: string): string {
  const own = identifier(wanted.replaceAll('$', '_'))
  const base = v === VALUE ? own : `${v}_${own}`
  let name = base
  for (let n = 2; writer.locals.has(name); n++) name = `${base}_${n}`
  writer.locals.add(name)
  return name
}

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
    const item = variable(writer, v, `item${index}`)
    const inner = check(each, item, writer, false)
    if (inner.length > 0)
      lines.push(`if (${v}.length > ${index}) {`, `  const ${item} = ${v}[${index}]`, ...indent(inner), '}')
  }
  const item = variable(writer, v, 'item')
  const at = variable(writer, VALUE, 'index')
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

/**
 * Returns an access to a property. If every object inherits a property of this name, checks that it is an own
 * property.
 */
function property(v: string, name: string, writer: Writer): string {
  return name in Object.prototype
    ? `${writer.constants.call('own')}(${v}, ${stringLiteral(name)})`
    : `${v}${member(name)}`
}

function checkObject(schema: Of<'object'>, v: string, writer: Writer): Code[] {
  const { properties, minProperties: least, maxProperties: most } = schema
  const lines: Code[] = []
  if (least !== undefined || most !== undefined) {
    const size = variable(writer, v, 'size')
    const wrong = [least !== undefined && `${size} < ${least}`, most !== undefined && `${size} > ${most}`]
    lines.push(`const ${size} = Object.keys(${v}).length`)
    lines.push(`if (${wrong.filter((each) => each).join(' || ')}) return false`)
  }
  const counted =
    schema.additional === 'closed' && schema.patterns.length === 0 ? variable(writer, v, 'known') : undefined
  const required = properties.filter((each) => each.required)
  if (counted) lines.push(`let ${counted} = ${required.length}`)
  // Required properties come first, so that a body without them is rejected quickly.
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

/** Kinds whose checks reject undefined. */
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
  const inner = variable(writer, v, each.name)
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
  const inner = variable(writer, v, each.name)
  const lines = [...(counted ? [`${counted}++`] : []), ...check(each.schema, inner, writer, false)]
  if (lines.length === 0) return []
  const access = property(v, each.name, writer)
  return [`const ${inner} = ${access}`, `if (${inner} !== undefined) {`, ...indent(lines), '}']
}

/** Checks names and unlisted properties; only this part iterates over all properties. */
function checkNames(schema: Of<'object'>, v: string, names: readonly string[], writer: Writer): Code[] {
  const { additional, patterns, propertyNames } = schema
  const rest = typeof additional === 'object' ? additional : undefined
  const name = variable(writer, v, 'name')
  const value = variable(writer, v, 'member')
  const inner = propertyNames ? check(propertyNames, name, writer, false) : []
  const listed = names.length > 0 ? `${nameSet(schema, names, writer)}.has(${name})` : undefined
  const restLines = rest
    ? check(rest, value, writer, false)
    : additional === 'closed' && patterns.length > 0
      ? ['return false']
      : []
  if (patterns.length > 0) {
    const hit = variable(writer, v, 'matched')
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
