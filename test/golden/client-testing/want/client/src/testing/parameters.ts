/**
 * Reads parameters in the styles of OpenAPI 3.1 ("Style Values"), which are those of RFC 6570;
 * `client-runtime/parameters.ts` writes them. Text is split before it is decoded, so that an encoded separator is part
 * of a value.
 */
import type { Detail, Parameter, ParameterEncoding, ScalarType } from './contract.ts'
import { findForbidden, joinField } from './forbidden.ts'

export { joinField }

/**
 * The kind of problem: unknown name, repetition, missing parameter, bad encoding, wrong format, or refused by the
 * schema.
 */
export type ParameterFault = 'unknown' | 'repeated' | 'missing' | 'encoding' | 'format' | 'invalid'

/** Thrown if a parameter is invalid. */
export class ParameterError extends Error implements Detail {
  readonly fault: ParameterFault
  readonly field: string
  readonly issue: string
  /** The row and the value, for `explain`, if the schema refused the value. */
  readonly refused: { readonly parameter: Parameter; readonly value: unknown } | undefined

  constructor(fault: ParameterFault, field: string, issue: string, refused?: ParameterError['refused']) {
    super(`${field} ${issue}`)
    this.name = 'ParameterError'
    this.fault = fault
    this.field = field
    this.issue = issue
    this.refused = refused
  }
}

/** Lookup table for `readQuery`. */
export interface QueryTable {
  readonly named: ReadonlyMap<string, Parameter>
  /** Object parameters with exploded `form` style, by the names of their members. */
  readonly members: ReadonlyMap<string, Parameter>
  /** The object parameter that takes all unknown names. */
  readonly rest: Parameter | undefined
  readonly required: readonly Parameter[]
}

export function createQueryTable(parameters: readonly Parameter[]): QueryTable {
  const spread = parameters.filter(
    ({ encoding }) => encoding?.style === 'form' && encoding.explode && encoding.object,
  )
  return {
    named: new Map(parameters.map((parameter) => [parameter.name, parameter])),
    members: new Map(
      spread.flatMap((parameter) =>
        Object.keys(parameter.encoding!.object!.members).map((name) => [name, parameter] as const),
      ),
    ),
    rest: spread.find(({ encoding }) => encoding?.object?.others),
    required: parameters.filter(({ required }) => required),
  }
}

/** A member name and raw text. The name is undefined for the parameter itself. */
type RawPair = readonly [member: string | undefined, raw: string]

/**
 * Reads a query string.
 *
 * @param search the query without its question mark, not decoded.
 * @returns valid values by parameter name.
 * @throws ParameterError for the first problem.
 */
export function readQuery(table: QueryTable, search: string): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  const composite = new Map<Parameter, RawPair[]>()
  for (const part of search === '' ? [] : search.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const rawName = equals < 0 ? part : part.slice(0, equals)
    const raw = equals < 0 ? '' : part.slice(equals + 1)
    const name = decodeQuery(rawName, rawName)
    const [parameter, member] = findParameter(table, name)
    if (!parameter.encoding) {
      if (Object.hasOwn(values, name)) throw repeated(name)
      values[name] = readParameter(parameter, raw, decodeQuery)
    } else {
      const pairs = composite.get(parameter)
      if (pairs) pairs.push([member, raw])
      else composite.set(parameter, [[member, raw]])
    }
  }
  for (const [parameter, pairs] of composite) values[parameter.name] = readPairs(parameter, pairs)
  for (const { name } of table.required) {
    if (!Object.hasOwn(values, name)) throw new ParameterError('missing', name, 'is required')
  }
  return values
}

/** Returns the parameter for a name in the query, and the member that the name refers to. */
function findParameter(table: QueryTable, name: string): [Parameter, string | undefined] {
  const named = table.named.get(name)
  if (named && table.members.get(name) !== named) return [named, undefined]
  const bracket = name.indexOf('[')
  const deep = bracket > 0 && name.endsWith(']') ? table.named.get(name.slice(0, bracket)) : undefined
  if (deep?.encoding?.style === 'deepObject') return [deep, readMember(deep, name.slice(bracket + 1, -1))]
  const spread = table.members.get(name) ?? table.rest
  if (!spread) throw new ParameterError('unknown', name.slice(0, SHOWN), 'is not a known parameter')
  return [spread, name]
}

function readMember({ name }: Parameter, member: string): string {
  if (!member.includes('][')) return member
  const field = joinField(name, member.slice(0, Math.min(member.indexOf(']['), SHOWN)))
  throw new ParameterError('format', field, 'must not contain a list or an object')
}

/** Maximum number of characters of a name in an error. */
const SHOWN = 100

type Decode = (raw: string, field: string) => string

/** Reads a path parameter. @param raw the path segment, not decoded. @throws ParameterError if the value is invalid. */
export const readSegment = (parameter: Parameter, raw: string): unknown =>
  readParameter(parameter, raw, decodePath)

/**
 * Reads a header parameter. @param text the header value; repeated headers are joined by commas. @throws ParameterError
 * if the value is invalid.
 */
export const readHeader = (parameter: Parameter, text: string): unknown =>
  readParameter(parameter, text, (raw) => raw.trim())

function readParameter(parameter: Parameter, raw: string, decode: Decode): unknown {
  const { encoding, name, type } = parameter
  if (!encoding) return check(parameter, convert(type, decode(raw, name)) ?? refuseForm(name, [type]))
  return readShapes(parameter, splitText(encoding, name, raw), decode)
}

/** Reads the pairs of one query parameter. A name that occurs once can contain a whole list or object. */
function readPairs(parameter: Parameter, pairs: readonly RawPair[]): unknown {
  const { encoding, name } = parameter
  const [[member, raw]] = pairs as [RawPair]
  if (encoding!.explode || member !== undefined) return readShapes(parameter, { pairs }, decodeQuery)
  if (pairs.length > 1) throw repeated(name)
  return readShapes(parameter, splitText(encoding!, name, raw), decodeQuery)
}

const repeated = (field: string) => new ParameterError('repeated', field, 'must occur only once')

/** The parts of a parameter. `whole` is undefined if it is exploded into pairs with its own name. */
interface SplitText {
  readonly whole?: string
  readonly pairs: readonly RawPair[]
}

const SEPARATORS: Readonly<Record<string, RegExp>> = {
  spaceDelimited: /%20|[+ ]/,
  pipeDelimited: /%7C|\|/i,
}
const EXPLODED: Readonly<Record<string, string>> = { label: '.', matrix: ';' }

/** Splits a text according to its style, without decoding. */
function splitText({ style, explode, object }: ParameterEncoding, name: string, raw: string): SplitText {
  if (style === 'json' || style === 'none') return { whole: raw, pairs: [] }
  const prefix = EXPLODED[style] ?? ''
  if (!raw.startsWith(prefix)) throw new ParameterError('format', name, `must begin with "${prefix}"`)
  const text = raw.slice(prefix.length)
  const named = style === 'matrix' ? `${encodeURIComponent(name)}` : undefined
  if (!explode) {
    const whole = named === undefined ? text : text === named ? '' : cutName(name, named, text)
    const pieces = whole.split(SEPARATORS[style] ?? ',')
    return { whole, pairs: pieces.map((piece) => [undefined, piece]) }
  }
  const pairs = text.split(EXPLODED[style] ?? ',').map((piece): RawPair => {
    if (named !== undefined && (piece === named || piece.startsWith(`${named}=`)))
      return [undefined, piece.slice(named.length + 1)]
    const equals = object ? piece.indexOf('=') : -1
    return equals < 0 ? [undefined, piece] : [piece.slice(0, equals), piece.slice(equals + 1)]
  })
  return { ...(named === undefined && { whole: text }), pairs }
}

function cutName(name: string, named: string, text: string): string {
  if (text.startsWith(`${named}=`)) return text.slice(named.length + 1)
  throw new ParameterError('format', name, `must begin with ";${named}="`)
}

type ReadShape = (parameter: Parameter, split: SplitText, decode: Decode) => unknown

const SHAPES = { scalar: readScalar, list: readList, object: readObject } satisfies Record<string, ReadShape>

/** Reads the parameter in each possible shape. Returns the first value that the schema accepts. */
function readShapes(parameter: Parameter, split: SplitText, decode: Decode): unknown {
  const encoding = parameter.encoding!
  if (encoding.style === 'none')
    throw new ParameterError(
      'format',
      parameter.name,
      'cannot be sent, because no style can represent it; omit it',
    )
  if (encoding.style === 'json') return readJson(parameter, split.whole ?? split.pairs[0]![1], decode)
  const isOne = split.pairs.length === 1 && split.pairs[0]![0] === undefined
  const order = isOne ? (['scalar', 'list', 'object'] as const) : (['object', 'list', 'scalar'] as const)
  const possible = order.filter((shape) => encoding[shape])
  let first: ParameterError | undefined
  for (const shape of possible) {
    try {
      return check(parameter, SHAPES[shape](parameter, split, decode))
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      first ??= error
    }
  }
  throw first
}

function readScalar({ name, encoding }: Parameter, { whole, pairs }: SplitText, decode: Decode): unknown {
  if (whole === undefined && pairs.length > 1) throw repeated(name)
  const [[member, raw]] = pairs as [RawPair]
  if (member !== undefined) throw new ParameterError('format', name, `must be ${inWords(encoding!.scalar!)}`)
  return readText(encoding!.scalar!, decode(whole ?? raw, name), name)
}

function readList({ name, encoding }: Parameter, { pairs }: SplitText, decode: Decode): unknown {
  return pairs.map(([member, raw], index) => {
    if (member !== undefined)
      throw new ParameterError('format', joinField(name, member), 'is not an item of a list')
    const field = `${name}[${index}]`
    return readText(encoding!.list!, decode(raw, field), field)
  })
}

function readObject({ name, encoding }: Parameter, { pairs }: SplitText, decode: Decode): unknown {
  const { explode, object, style } = encoding!
  const members = new Map<string, unknown>()
  for (const [raw, text] of explode ? pairs : pairsOf(name, pairs)) {
    if (raw === undefined) throw new ParameterError('format', name, 'must be an object')
    // Names in a query are already decoded.
    const member = (style === 'form' && explode) || style === 'deepObject' ? raw : decode(raw, name)
    const field = joinField(name, member.slice(0, SHOWN))
    if (members.has(member)) throw repeated(field)
    if (member === '__proto__') throw new ParameterError('format', field, 'is not allowed as a name')
    const types = Object.hasOwn(object!.members, member)
      ? object!.members[member]!
      : (object!.others ?? ['string'])
    members.set(member, readText(types, decode(text, field), field))
  }
  return Object.fromEntries(members)
}

/** Pairs alternating names and values. */
function pairsOf(name: string, pieces: readonly RawPair[]): RawPair[] {
  if (pieces.length % 2 === 1) throw new ParameterError('format', name, 'must have a value after each name')
  return pieces.flatMap(([, piece], index) =>
    index % 2 === 0 ? [[piece, pieces[index + 1]![1]] as const] : [],
  )
}

function readJson(parameter: Parameter, raw: string, decode: Decode): unknown {
  const { name } = parameter
  let value: unknown
  try {
    value = JSON.parse(decode(raw, name))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ParameterError('format', name, 'must be valid JSON')
  }
  const forbidden = findForbidden(value)
  if (forbidden) throw new ParameterError('format', joinField(name, forbidden.field), forbidden.issue)
  return check(parameter, value)
}

function check(parameter: Parameter, value: unknown): unknown {
  if (!parameter.validate(value))
    throw new ParameterError('invalid', parameter.name, 'does not match its schema', { parameter, value })
  return parameter.set ? [value] : value
}

/** Converts a text to the first matching type. @throws ParameterError if none matches. */
function readText(types: readonly ScalarType[], text: string, field: string): unknown {
  for (const type of types) {
    const value = convert(type, text)
    if (value !== undefined) return value
  }
  return refuseForm(field, types)
}

function refuseForm(field: string, types: readonly ScalarType[]): never {
  throw new ParameterError('format', field, `must be ${inWords(types)}`)
}

export const inWords = (types: readonly ScalarType[]): string => types.map((type) => NEEDS[type]).join(' or ')

const NEEDS: Readonly<Record<ScalarType, string>> = {
  string: 'text',
  integer: 'a whole number',
  int64: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
}

const INTEGER = /^(0|-?[1-9]\d*)$/
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

/** Converts a text to a type. Returns undefined if it does not have the type. */
export function convert(type: ScalarType, text: string): string | number | bigint | boolean | undefined {
  switch (type) {
    case 'string':
      return text
    case 'integer':
      return INTEGER.test(text) ? Number(text) : undefined
    case 'int64':
      if (!INTEGER.test(text)) return undefined
      return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
    case 'number':
      return NUMBER.test(text) ? Number(text) : undefined
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
  }
}

/** Decodes a query part, in which a plus sign is a space. */
const decodeQuery: Decode = (raw, field) =>
  decodePath(raw.includes('+') ? raw.replaceAll('+', ' ') : raw, field)

function decodePath(raw: string, field: string): string {
  try {
    const text = raw.includes('%') ? decodeURIComponent(raw) : raw
    if (!text.includes('\0')) return text
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  throw new ParameterError('encoding', field.slice(0, SHOWN), 'is not percent-encoded UTF-8 text')
}
