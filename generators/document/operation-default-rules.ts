/** Reads the rules in `x-operation-defaults`, and decides which operations they apply to. */
import { isSameValue } from '../runtime/same-value.ts'
import { escapePointer, unescapePointer } from './escape-pointer.ts'

export const DEFAULTS = 'x-operation-defaults'

export type JsonObject = Readonly<Record<string, unknown>>

export interface DefaultsFault {
  readonly code: 'operation-defaults-invalid' | 'operation-defaults-unused' | 'operation-default-repeated'
  readonly severity: 'error' | 'warning'
  readonly pointer: string
  readonly message: string
  readonly hint: string
  /** Pointer of the default that the fault is about. */
  readonly other?: string
}

export const SECTIONS = ['paths', 'webhooks'] as const
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']
export const GROUPS = ['parameters', 'responses', 'responseHeaders'] as const

export type RuleGroup = (typeof GROUPS)[number]

/** One entry of a rule: a parameter, a response or a header. */
export interface RuleDefault {
  readonly name: string
  /** Entries of a group with the same key are the same entry. */
  readonly key: string
  readonly value: unknown
  readonly pointer: string
}

export interface DefaultRule {
  readonly pointer: string
  readonly when: JsonObject
  readonly gives: Readonly<Record<RuleGroup, readonly RuleDefault[]>>
}

export interface DefaultedOperation {
  readonly section: (typeof SECTIONS)[number]
  readonly path: string
  readonly method: string
  readonly pointer: string
  readonly node: JsonObject
  /** Parameters of the path item, which apply to each of its operations. */
  readonly shared: readonly unknown[]
}

/** Reads the rules of a document. A rule with a fault is skipped; its faults are added to the list. */
export function readRules(document: JsonObject, faults: DefaultsFault[]): readonly DefaultRule[] {
  const list = document[DEFAULTS]
  if (Array.isArray(list))
    return list.flatMap(
      (each, index) => new RuleReader(document, faults, pointerOf('', DEFAULTS, index)).read(each) ?? [],
    )
  faults.push(invalid(pointerOf('', DEFAULTS), `\`${DEFAULTS}\` is not a list`))
  return []
}

class RuleReader {
  readonly #document: JsonObject
  readonly #faults: DefaultsFault[]
  readonly #pointer: string

  constructor(document: JsonObject, faults: DefaultsFault[], pointer: string) {
    this.#document = document
    this.#faults = faults
    this.#pointer = pointer
  }

  /** Returns undefined after adding a fault. */
  read(rule: unknown): DefaultRule | undefined {
    const before = this.#faults.length
    if (!isMapping(rule)) {
      this.#complain('the rule is not a mapping')
      return undefined
    }
    this.#faults.push(...unknownMembers(rule, this.#pointer, ['when', ...GROUPS]))
    const { when: conditions = {}, parameters = [], responses = {}, responseHeaders = {} } = rule
    const when = this.#readWhen(conditions)
    const gives = {
      parameters: this.#readParameters(parameters),
      responses: this.#readNamed(responses, 'responses'),
      responseHeaders: this.#readNamed(responseHeaders, 'responseHeaders'),
    }
    if (this.#faults.length > before) return undefined
    if (GROUPS.some((group) => gives[group].length > 0)) return { pointer: this.#pointer, when, gives }
    this.#complain('the rule has no parameters, responses or response headers')
    return undefined
  }

  #readWhen(when: unknown): JsonObject {
    if (!isMapping(when)) {
      this.#complain('`when` is not a mapping', 'when')
      return {}
    }
    const extensions = Object.keys(when).filter((name) => name.startsWith('x-'))
    const known = ['in', 'method', 'pathParameters', ...extensions]
    this.#faults.push(...unknownMembers(when, pointerOf(this.#pointer, 'when'), known))
    const check = (name: string, isRight: (value: unknown) => boolean, wanted: string) => {
      if (when[name] !== undefined && !isRight(when[name]))
        this.#complain(`\`${name}\` is not ${wanted}`, 'when', name)
    }
    const isMethod = (value: unknown) => METHODS.includes(value as string)
    check('in', (value) => SECTIONS.some((each) => each === value), SECTIONS.join(' or '))
    check('method', (value) => [value].flat().every(isMethod), `one or several of ${METHODS.join(', ')}`)
    check('pathParameters', (value) => typeof value === 'boolean', 'true or false')
    return when
  }

  #readParameters(list: unknown): readonly RuleDefault[] {
    if (Array.isArray(list))
      return list.map((value, index) => ({
        name: String(parameterOf(this.#document, value).name),
        key: parameterKey(this.#document, value),
        value,
        pointer: pointerOf(this.#pointer, 'parameters', index),
      }))
    this.#complain('`parameters` is not a list', 'parameters')
    return []
  }

  #readNamed(members: unknown, group: 'responses' | 'responseHeaders'): readonly RuleDefault[] {
    if (isMapping(members))
      return Object.entries(members).map(([name, value]) => ({
        name,
        key: nameKey(group, name),
        value,
        pointer: pointerOf(this.#pointer, group, name),
      }))
    this.#complain(`\`${group}\` is not a mapping`, group)
    return []
  }

  #complain(message: string, ...tokens: readonly string[]): void {
    this.#faults.push(invalid(pointerOf(this.#pointer, ...tokens), message))
  }
}

/** Returns whether an operation meets all conditions of a rule. Without `in`, a rule applies to `paths`. */
export function holdsFor(
  { when }: DefaultRule,
  { section, path, method, node }: DefaultedOperation,
): boolean {
  const conditions: JsonObject = { in: 'paths', ...when }
  return Object.entries(conditions).every(([name, wanted]) => {
    if (name === 'in') return wanted === section
    if (name === 'method') return [wanted].flat().includes(method)
    if (name === 'pathParameters') return wanted === /\{[^}]+\}/.test(path)
    return isSameValue(node[name], wanted)
  })
}

/**
 * Returns the comparison key of a name. Header names, and names of parameters to leave out, are case-insensitive
 * (RFC 9110 §5.1).
 */
export const nameKey = (group: RuleGroup, name: string): string =>
  group === 'responses' ? name : name.toLowerCase()

/** Returns the identity of a parameter: its location and name. */
export function parameterKey(document: JsonObject, value: unknown): string {
  const { name, in: where, $ref } = parameterOf(document, value)
  if ($ref !== undefined) return String($ref)
  return `${where} ${where === 'header' ? String(name).toLowerCase() : name}`
}

/** Returns a parameter, or the component that it refers to. */
function parameterOf(document: JsonObject, value: unknown): JsonObject {
  if (!isMapping(value)) return {}
  const { $ref } = value
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return value
  let at: unknown = document
  for (const token of $ref.slice(2).split('/')) {
    const name = unescapePointer(token)
    at = isMapping(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return isMapping(at) ? at : value
}

export function unknownMembers(
  value: JsonObject,
  pointer: string,
  known: readonly string[],
): DefaultsFault[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => invalid(pointerOf(pointer, name), `\`${name}\` is unknown`, `use ${known.join(', ')}`))
}

export function invalid(pointer: string, message: string, hint = 'correct it'): DefaultsFault {
  return { code: 'operation-defaults-invalid', severity: 'error', pointer, message, hint }
}

export const isMapping = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const pointerOf = (pointer: string, ...tokens: readonly (string | number)[]): string =>
  [pointer, ...tokens.map((token) => escapePointer(String(token)))].join('/')
