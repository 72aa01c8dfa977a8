/**
 * Operation defaults: parameters, responses and headers that a document declares once, in `x-operation-defaults` at
 * its root. They are expanded into the operations when the document is read, so that later phases see plain
 * OpenAPI.
 */
import { isSameValue } from '../runtime/same-value.ts'
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

/** Member of an operation that names the defaults to leave out. */
const WITHOUT = 'x-without-defaults'

export interface Expansion {
  readonly json: JsonObject
  /** For each pointer of a value that came from a default: the pointer of that default. */
  readonly origins: ReadonlyMap<string, string>
  readonly faults: readonly DefaultsFault[]
}

/**
 * Returns a copy of the document with the defaults expanded into its operations.
 *
 * The operation's own members override defaults, and a later rule overrides an earlier one. Own parameters come
 * before the defaults, own headers after them.
 *
 * @returns undefined if the document declares no defaults.
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

/** Returns the pointer of a node as written: inside the default, if the node came from one. */
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

  /** Returns `paths` or `webhooks` with all operations expanded. */
  section(section: DefaultedOperation['section'], items: unknown): unknown {
    return mapMembers(items, (item, path) =>
      mapMembers(item, (node, name) => {
        const shared = isMapping(item) && Array.isArray(item.parameters) ? item.parameters : []
        const expand = (operation: unknown, method: string, pointer: string) =>
          isMapping(operation)
            ? this.#expand({ section, path, method, pointer, node: operation, shared })
            : operation
        const at = pointerOf('', section, path, name)
        if (METHODS.includes(name)) return expand(node, name, at)
        if (name !== 'additionalOperations') return node
        return mapMembers(node, (each, method) => expand(each, method, pointerOf(at, method)))
      }),
    )
  }

  /** Returns all faults; call it after every operation is expanded. */
  finish(): readonly DefaultsFault[] {
    const unused = this.#rules
      .filter((rule) => !this.#used.has(rule))
      .map(({ pointer }) => ({
        code: 'operation-defaults-unused' as const,
        severity: 'error' as const,
        pointer,
        message: 'this rule applies to no operation',
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

  /** Returns the members to add: those of the defaults that the operation does not have. */
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
    if (!isSameValue(value, own)) return
    this.#faults.push({
      code: 'operation-default-repeated',
      severity: 'warning',
      pointer,
      message: `${name} repeats the default`,
      hint: 'delete it here',
      other,
    })
  }

  /** Returns group and name of each default that the operation leaves out. */
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
            invalid(pointerOf(at, group, index), `no default adds ${name} to this operation`, 'delete it'),
          )
      }
    }
    return left
  }
}

/** Members that conventionally follow one that a default adds. */
const BEHIND = {
  parameters: ['requestBody', 'responses', 'callbacks'],
  responses: ['callbacks'],
  headers: ['content', 'links'],
} as const

/** Returns a node with a member replaced in place, or inserted at its conventional position. */
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
