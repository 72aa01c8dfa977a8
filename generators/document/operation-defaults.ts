/**
 * Defaults of operations: parameters, responses and headers that a document says once, in `x-operation-defaults` at its
 * root, and that each operation they hold for is read with. What reads the document afterwards sees plain OpenAPI.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  DEFAULTS,
  type DefaultedOperation,
  type DefaultRule,
  type DefaultsFault,
  GROUPS,
  holdsFor,
  invalid,
  isMapping,
  type JsonObject,
  METHODS,
  nameKey,
  parameterKey,
  pointerOf,
  type RuleDefault,
  type RuleGroup,
  readRules,
  SECTIONS,
  unknownMembers,
} from './operation-default-rules.ts'

/** Member of an operation that names defaults which do not hold for it. */
const WITHOUT = 'x-without-defaults'

export interface Expansion {
  readonly json: JsonObject
  /** By pointer of what a default put in: the pointer where it is written. */
  readonly origins: ReadonlyMap<string, string>
  readonly faults: readonly DefaultsFault[]
}

/**
 * Writes the defaults of a document out in its operations; the document itself stays as it is.
 *
 * What an operation says itself stands first among its parameters and last among its headers, and wins over a default; of
 * two rules that give the same, the later one counts.
 *
 * @returns undefined where the document declares none.
 */
export function expandDefaults(document: JsonObject): Expansion | undefined {
  if (!Object.hasOwn(document, DEFAULTS)) return undefined
  const writer = new Writer(document)
  const { [DEFAULTS]: _, ...json } = document
  const sections = SECTIONS.filter((name) => Object.hasOwn(document, name)).map(
    (name) => [name, writer.section(name, document[name])] as const,
  )
  return {
    json: { ...json, ...Object.fromEntries(sections) },
    origins: writer.origins,
    faults: writer.finish(),
  }
}

/** @returns the pointer where a node is written: in a default, if one put it in. */
export function originOf(pointer: string, origins: ReadonlyMap<string, string>): string {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const origin = origins.get(at)
    if (origin !== undefined) return origin + pointer.slice(at.length)
  }
  return pointer
}

class Writer {
  readonly origins = new Map<string, string>()
  readonly #document: JsonObject
  readonly #faults: DefaultsFault[] = []
  readonly #rules: readonly DefaultRule[]
  readonly #used = new Set<DefaultRule>()

  constructor(document: JsonObject) {
    this.#document = document
    this.#rules = readRules(document, this.#faults)
  }

  /** @returns `paths` or `webhooks` with all operations written out. */
  section(section: DefaultedOperation['section'], items: unknown): unknown {
    return mapMembers(items, (item, path) =>
      mapMembers(item, (node, method) => {
        if (!isMapping(node) || !METHODS.includes(method)) return node
        const pointer = pointerOf('', section, path, method)
        const shared = isMapping(item) && Array.isArray(item.parameters) ? item.parameters : []
        return this.#expand({ section, path, method, pointer, node, shared })
      }),
    )
  }

  /** @returns all faults, once every operation is written out. */
  finish(): readonly DefaultsFault[] {
    const unused = this.#rules
      .filter((rule) => !this.#used.has(rule))
      .map(({ pointer }) => ({
        code: 'operation-defaults-unused' as const,
        severity: 'error' as const,
        pointer,
        message: 'this rule holds for no operation',
        hint: 'correct its `when`, or delete the rule',
      }))
    return [...this.#faults, ...unused]
  }

  #expand(operation: DefaultedOperation): JsonObject {
    const rules = this.#rules.filter((rule) => holdsFor(rule, operation))
    for (const rule of rules) this.#used.add(rule)
    const without = this.#readWithout(operation, rules)
    const given = (group: RuleGroup): readonly RuleDefault[] => {
      const byKey = new Map(rules.flatMap(({ gives }) => gives[group].map((each) => [each.key, each])))
      return [...byKey.values()].filter(({ name }) => !without.has(`${group} ${nameKey(group, name)}`))
    }
    const { [WITHOUT]: _, ...own } = operation.node
    const parameters = this.#parameters(operation, given('parameters'))
    const responses = this.#responses(operation, given('responses'), given('responseHeaders'))
    return withMember(withMember(own, 'parameters', parameters), 'responses', responses)
  }

  #parameters({ node, shared, pointer }: DefaultedOperation, given: readonly RuleDefault[]): unknown {
    const { parameters: own = [] } = node
    if (!Array.isArray(own)) return own
    const keyOf = (value: unknown) => parameterKey(this.#document, value)
    const ofPath = new Set(shared.map(keyOf))
    const places = new Map(own.map((each, index) => [keyOf(each), index]))
    const added = given.filter((each) => {
      const index = places.get(each.key)
      if (index !== undefined) this.#compare(each, own[index], pointerOf(pointer, 'parameters', index))
      return index === undefined && !ofPath.has(each.key)
    })
    if (added.length === 0) return node.parameters
    for (const [index, each] of added.entries())
      this.origins.set(pointerOf(pointer, 'parameters', own.length + index), each.pointer)
    return [...own, ...added.map(({ value }) => value)]
  }

  #responses(
    { node, pointer }: DefaultedOperation,
    given: readonly RuleDefault[],
    headers: readonly RuleDefault[],
  ): unknown {
    const { responses: own = {} } = node
    if (!isMapping(own)) return own
    const at = pointerOf(pointer, 'responses')
    const written = Object.entries(own).map(([status, response]) => {
      const takes = /^2/.test(status) && isMapping(response) && response.$ref === undefined
      return [status, takes ? this.#headers(response, pointerOf(at, status), headers) : response] as const
    })
    const added = this.#lacking('responses', own, at, given)
    return written.length + added.length === 0 ? node.responses : Object.fromEntries([...written, ...added])
  }

  #headers(response: JsonObject, pointer: string, given: readonly RuleDefault[]): JsonObject {
    const { headers: own = {} } = response
    if (!isMapping(own)) return response
    const added = this.#lacking('responseHeaders', own, pointerOf(pointer, 'headers'), given)
    if (added.length === 0) return response
    return withMember(response, 'headers', Object.fromEntries([...added, ...Object.entries(own)]))
  }

  /** @returns the members that a mapping lacks of what is given. */
  #lacking(group: RuleGroup, own: JsonObject, pointer: string, given: readonly RuleDefault[]) {
    const names = new Map(Object.keys(own).map((name) => [nameKey(group, name), name]))
    return given.flatMap((each) => {
      const name = names.get(each.key)
      if (name !== undefined) {
        this.#compare(each, own[name], pointerOf(pointer, name))
        return []
      }
      this.origins.set(pointerOf(pointer, each.name), each.pointer)
      return [[each.name, each.value] as const]
    })
  }

  #compare({ value, pointer: other, name }: RuleDefault, own: unknown, pointer: string): void {
    if (!isDeepStrictEqual(value, own)) return
    this.#faults.push({
      code: 'operation-default-repeated',
      severity: 'warning',
      pointer,
      message: `${name} is what the defaults give already`,
      hint: 'delete it here',
      other,
    })
  }

  /** @returns group and name of each default that does not hold for an operation. */
  #readWithout({ node, pointer }: DefaultedOperation, rules: readonly DefaultRule[]): ReadonlySet<string> {
    const left = new Set<string>()
    const { [WITHOUT]: value = {} } = node
    const at = pointerOf(pointer, WITHOUT)
    if (!isMapping(value)) {
      this.#faults.push(invalid(at, `\`${WITHOUT}\` is not a mapping`))
      return left
    }
    this.#faults.push(...unknownMembers(value, at, GROUPS))
    for (const group of GROUPS) {
      const { [group]: names = [] } = value
      if (!Array.isArray(names)) {
        this.#faults.push(invalid(pointerOf(at, group), `\`${group}\` is not a list of names`))
        continue
      }
      const given = new Set(
        rules.flatMap(({ gives }) => gives[group].map(({ name }) => nameKey(group, name))),
      )
      for (const [index, name] of names.entries()) {
        const key = nameKey(group, String(name))
        left.add(`${group} ${key}`)
        if (!given.has(key))
          this.#faults.push(
            invalid(pointerOf(at, group, index), `no default gives ${name} here`, 'delete it'),
          )
      }
    }
    return left
  }
}

/** Members that usually stand behind one that a default puts in. */
const BEHIND = {
  parameters: ['requestBody', 'responses', 'callbacks'],
  responses: ['callbacks'],
  headers: ['content', 'links'],
} as const

/** @returns a node with another member: in its own place, or where it usually stands. */
function withMember(node: JsonObject, name: keyof typeof BEHIND, value: unknown): JsonObject {
  if (value === node[name]) return node
  if (Object.hasOwn(node, name)) return { ...node, [name]: value }
  const entries = Object.entries(node)
  const next = entries.findIndex(([each]) => BEHIND[name].some((behind) => behind === each))
  return Object.fromEntries(entries.toSpliced(next < 0 ? entries.length : next, 0, [name, value]))
}

function mapMembers(value: unknown, change: (member: unknown, name: string) => unknown): unknown {
  if (!isMapping(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each, name)]))
}
