/**
 * Joins the files of a document, so that all other code sees one plain document. Redocly also bundles, but gives no
 * source locations, names components by the order of references, and is not installed where `dateline build` runs.
 */
import { escapePointer, unescapePointer } from './escape-pointer.ts'
import { componentNames } from './part-names.ts'
import { addressesIn } from './parts.ts'
import type { ReferenceFault } from './references.ts'
import { ANY_VALUE, ruleOfMember, type ShapeRule } from './shape.ts'

type JsonObject = Readonly<Record<string, unknown>>

/** A file of a document, parsed. */
export interface DocumentPart {
  readonly file: string
  readonly text: string
  readonly json: unknown
}

/** A value as it is written: the file, and the pointer in it. */
export interface Origin {
  readonly part: DocumentPart
  readonly pointer: string
}

/** Origins of members that came from a different place than their object, by the object and the name. */
export type Grafts = Map<object, Map<string, Origin>>

export interface Bundle {
  readonly json: JsonObject
  readonly grafts: Grafts
  /** Faults of references by the node that holds each. */
  readonly faults: ReadonlyMap<object, ReferenceFault & { readonly origin: Origin }>
}

/** Opens the file that an address of a reference in `from` names. The address has no fragment. */
export type OpenPart = (address: string, from: DocumentPart) => DocumentPart | ReferenceFault

/** Sections of components by the kind of their nodes. Nodes of other kinds replace the references to them. */
const SECTIONS: Readonly<Record<ShapeRule, string>> = {
  Schema: 'schemas',
  Parameter: 'parameters',
  Header: 'headers',
  Response: 'responses',
  Body: 'requestBodies',
  Example: 'examples',
  Link: 'links',
  Callback: 'callbacks',
  Scheme: 'securitySchemes',
}

/** A value in a file that references lead to, and that becomes a component. */
interface Target extends Origin {
  readonly section: string
  readonly node: object
  /** The name of the component of the root document that is only a reference to this target. */
  name?: string
}

interface Found extends Origin {
  readonly node: unknown
}

/**
 * Returns the document with all values that it refers to in other files.
 *
 * Schemas, parameters, responses and other nodes that have a section in `components` become components, one for each
 * target. Path items, operations, and values that OpenAPI allows no reference to, such as `paths` as a whole, replace
 * the reference. Relative references start from the file that holds them.
 *
 * @param root the main file; its values, and those of the parts, are modified.
 * @param isInternal whether a reference in the root leads to the root itself, for example by `$id`.
 * @param addresses those of the references in the root to follow.
 */
export function bundle(
  root: DocumentPart,
  isInternal: (node: object, ref: string) => boolean,
  open: OpenPart,
  addresses: ReadonlySet<string> = addressesIn(root.text),
): Bundle {
  return new Bundler(root, isInternal, open, addresses).finish()
}

/** Maximum number of references that lead to a value through other references. */
const MAX_HOPS = 100

class Bundler {
  readonly #root: DocumentPart
  readonly #isInternal: (node: object, ref: string) => boolean
  readonly #openPart: OpenPart
  readonly #grafts: Grafts = new Map()
  readonly #faults = new Map<object, ReferenceFault & { readonly origin: Origin }>()
  readonly #targets = new Map<string, Target>()
  /** References to rewrite, once the names of components are known. */
  readonly #uses: { readonly holder: object; readonly key: string; readonly target: Target | string }[] = []
  readonly #seen = new Map<object, Set<ShapeRule>>()
  readonly #waiting: (() => void)[] = []
  readonly #addresses = new Map<DocumentPart, ReadonlySet<string>>()

  constructor(
    root: DocumentPart,
    isInternal: (node: object, ref: string) => boolean,
    open: OpenPart,
    addresses: ReadonlySet<string>,
  ) {
    this.#root = root
    this.#isInternal = isInternal
    this.#openPart = open
    this.#addresses.set(root, addresses)
  }

  finish(): Bundle {
    this.#visit(this.#root.json, 'Document', { part: this.#root, pointer: '' })
    // A queue instead of recursion: a chain of files can be longer than the stack.
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) next()
    this.#placeTargets()
    const components = memberOf(this.#root.json as object, 'components')
    if (isCollection(components)) delete (components as Record<string, unknown>).mediaTypes
    return { json: this.#root.json as JsonObject, grafts: this.#grafts, faults: this.#faults }
  }

  #visit(value: unknown, rule: ShapeRule, at: Origin): void {
    if (!isCollection(value)) return
    const before = this.#seen.get(value) ?? new Set()
    if (before.has(rule)) return
    this.#seen.set(value, before.add(rule))
    if (rule === 'Discriminator') this.#visitMapping(value, at)
    for (const name of Object.keys(value)) this.#visitMember(value, name, ruleOfMember(rule, name), at)
  }

  #visitMember(holder: object, name: string, rule: ShapeRule, of: Origin): void {
    const value = memberOf(holder, name)
    if (!isCollection(value)) return
    const at = this.#grafts.get(holder)?.get(name) ?? inside(of, name)
    const ref = memberOf(value, '$ref')
    // Only OpenAPI 3.2 allows references to media types, so they are always replaced.
    if (typeof ref !== 'string' || !(rule === 'Media' || this.#leavesRoot(at.part, value, ref)))
      return this.#visit(value, rule, at)
    // In an example, `$ref` can be data.
    const isLenient = rule === ANY_VALUE
    if (isLenient && Object.keys(value).length > 1) return this.#visit(value, rule, at)
    const found = this.#find(at.part, ref)
    if ('code' in found) {
      if (!isLenient) this.#faults.set(value, { ...found, origin: at })
      return
    }
    const section = Object.hasOwn(SECTIONS, rule) ? SECTIONS[rule] : undefined
    if (section === undefined || !isCollection(found.node))
      return this.#inline(holder, name, value, rule, at, found)
    const target = this.#use(value, '$ref', found, section, rule, found.node)
    // A component that is only a reference is the target itself.
    const isSlot = Object.keys(value).length === 1 && holder === this.#section(section)
    if (typeof target === 'object' && isSlot) target.name ??= name
    this.#visit(value, rule, at)
  }

  /** Returns the components of the root document in a section, which may be in a file of its own. */
  #section(name: string): unknown {
    const components = memberOf(this.#root.json as object, 'components')
    return isCollection(components) ? memberOf(components, name) : undefined
  }

  #leavesRoot(part: DocumentPart, node: object, ref: string): boolean {
    return part !== this.#root || !(ref.startsWith('#') || this.#isInternal(node, ref))
  }

  /** Replaces a reference by its target, with the members next to the reference on top. */
  #inline(holder: object, name: string, node: object, rule: ShapeRule, at: Origin, found: Found): void {
    const own = Object.keys(node).filter((each) => each !== '$ref')
    const isMerged = own.length > 0 && isCollection(found.node) && !Array.isArray(found.node)
    const value = isMerged ? { ...found.node, ...node } : found.node
    if (isMerged) delete (value as { $ref?: unknown }).$ref
    setMember(holder, name, value)
    this.#graft(holder, name, found)
    if (!isMerged) {
      this.#waiting.push(() => this.#visit(value, rule, found))
      return
    }
    for (const each of own) this.#graft(value as object, each, inside(at, each))
    this.#waiting.push(() => this.#visit(value, rule, found))
  }

  #graft(holder: object, name: string, { part, pointer }: Origin): void {
    const known = this.#grafts.get(holder) ?? new Map<string, Origin>()
    this.#grafts.set(holder, known.set(name, { part, pointer }))
  }

  /** Lets a member refer to the component of a value, or to the value itself if it is in the root document. */
  #use(
    holder: object,
    key: string,
    found: Found,
    section: string,
    rule: ShapeRule,
    node: object,
  ): Target | string {
    const target = this.#targetOf(found, section, rule, node)
    this.#uses.push({ holder, key, target })
    return target
  }

  #targetOf({ part, pointer }: Found, section: string, rule: ShapeRule, node: object): Target | string {
    if (part === this.#root) return pointer
    const key = `${section} ${part.file}#${pointer}`
    let target = this.#targets.get(key)
    if (!target) {
      target = { part, pointer, section, node }
      this.#targets.set(key, target)
      this.#waiting.push(() => this.#visitTarget(node, section, rule, { part, pointer }))
    }
    return target
  }

  /** Visits a component. With members next to it, its own `$ref` is not followed, but rewritten. */
  #visitTarget(node: object, section: string, rule: ShapeRule, at: Origin): void {
    const ref = memberOf(node, '$ref')
    const found = typeof ref === 'string' ? this.#find(at.part, ref) : undefined
    if (found && 'code' in found) this.#faults.set(node, { ...found, origin: at })
    else if (found && isCollection(found.node)) this.#use(node, '$ref', found, section, rule, found.node)
    this.#visit(node, rule, at)
  }

  /** Rewrites the values of a discriminator's mapping. They can be names or references. */
  #visitMapping(discriminator: object, at: Origin): void {
    const mapping = memberOf(discriminator, 'mapping')
    if (!isCollection(mapping)) return
    for (const [key, ref] of Object.entries(mapping)) {
      if (typeof ref !== 'string' || !/[#/]|\.(?:ya?ml|json)$/.test(ref)) continue
      if (!this.#leavesRoot(at.part, mapping, ref)) continue
      const found = this.#find(at.part, ref)
      if ('code' in found || !isCollection(found.node)) continue
      this.#use(mapping, key, found, 'schemas', 'Schema', found.node)
    }
  }

  /** Follows a reference, through values that are only references, to a value. */
  #find(from: DocumentPart, ref: string, hops = 0): Found | ReferenceFault {
    const mark = ref.indexOf('#')
    const [address, fragment] = mark < 0 ? [ref, ''] : [ref.slice(0, mark), ref.slice(mark + 1)]
    if (hops > MAX_HOPS)
      return { code: 'ref-circular', message: `${ref} refers only to itself`, hint: 'define the target' }
    const part = address === '' ? from : this.#open(address, from)
    if ('code' in part) return part
    const tokens = /^\/?$/.test(fragment)
      ? []
      : fragment.startsWith('/')
        ? fragment.split('/').slice(1)
        : anchorIn(part.json, fragment)
    let found: Found = { part, pointer: '', node: part.json }
    for (const token of tokens ?? ['']) {
      const hop = this.#hop(found, hops)
      if ('code' in hop) return hop
      const name = unescapePointer(token)
      if (!tokens || !isCollection(hop.node) || !Object.hasOwn(hop.node, name))
        return this.#missing(part, fragment)
      const next = this.#grafts.get(hop.node)?.get(name) ?? inside(hop, name)
      found = { ...next, node: memberOf(hop.node, name) }
    }
    return this.#hop(found, hops)
  }

  /** Follows a value that is only a reference, unless the root document resolves it. */
  #hop(found: Found, hops: number): Found | ReferenceFault {
    if (!isCollection(found.node) || Object.keys(found.node).length !== 1) return found
    const ref = memberOf(found.node, '$ref')
    if (typeof ref !== 'string' || !this.#leavesRoot(found.part, found.node, ref)) return found
    return this.#find(found.part, ref, hops + 1)
  }

  #open(address: string, from: DocumentPart): DocumentPart | ReferenceFault {
    const known = this.#addresses.get(from) ?? addressesIn(from.text)
    this.#addresses.set(from, known)
    if (known.has(address)) return this.#openPart(address, from)
    return {
      code: 'ref-external',
      message: `${address} points outside this file`,
      hint: 'write the reference on one line, without escapes: `$ref: "./file.yaml#/name"`',
    }
  }

  #missing(part: DocumentPart, fragment: string): ReferenceFault {
    const isInRoot = part !== this.#root && !('code' in this.#find(this.#root, `#${fragment}`))
    return {
      code: 'ref-missing',
      message: `#${fragment} does not exist in ${part.file}`,
      hint: isInRoot ? `${this.#root.file} has it: refer to that file` : 'define it or correct the reference',
    }
  }

  #placeTargets(): void {
    const targets = [...this.#targets.values()]
    const json = this.#root.json as Record<string, unknown>
    const names = new Map<Target, string>()
    for (const section of new Set(targets.map((each) => each.section).sort())) {
      const components = ensureMember(json, 'components')
      const holder = ensureMember(components, section)
      const inSection = targets.filter((each) => each.section === section)
      const named = componentNames(inSection, new Set(Object.keys(holder)), this.#root.file)
      for (const [target, name] of [...named].sort(([, a], [, b]) => (a < b ? -1 : 1))) {
        names.set(target, name)
        leaveFile(target.node)
        setMember(holder, name, target.node)
        this.#graft(holder, name, target)
      }
    }
    for (const { holder, key, target } of this.#uses) {
      const pointer =
        typeof target === 'string'
          ? target
          : `/components/${target.section}/${escapePointer(names.get(target)!)}`
      setMember(holder, key, `#${pointer.replaceAll('%', '%25')}`)
    }
  }
}

/**
 * Removes what a schema needs only in a file of its own: its URI, from which references no longer start, and definitions,
 * because each one that something refers to is a component now.
 */
function leaveFile(schema: object): void {
  const members = schema as Record<string, unknown>
  delete members.$id
  for (const name of ['$defs', 'definitions'])
    if (!/"\$(?:id|dynamicAnchor)":/.test(JSON.stringify(members[name]) ?? '')) delete members[name]
}

/**
 * Returns the origin of every grafted member by its pointer in the document.
 *
 * @param json without cycles.
 */
export function originsOf({ json, grafts }: Pick<Bundle, 'json' | 'grafts'>): ReadonlyMap<string, Origin> {
  const origins = new Map<string, Origin>()
  const visit = (value: unknown, pointer: string): void => {
    if (!isCollection(value)) return
    const known = grafts.get(value)
    for (const [name, each] of Object.entries(value)) {
      const at = `${pointer}/${escapePointer(name)}`
      const origin = known?.get(name)
      if (origin) origins.set(at, origin)
      visit(each, at)
    }
  }
  visit(json, '')
  return origins
}

/** Returns where a value is written: in the part that its nearest grafted ancestor came from, or in the root. */
export function originIn(origins: ReadonlyMap<string, Origin>, pointer: string): Origin | undefined {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const origin = origins.get(at)
    if (origin) return { part: origin.part, pointer: origin.pointer + pointer.slice(at.length) }
  }
  return undefined
}

export const inside = ({ part, pointer }: Origin, name: string): Origin => ({
  part,
  pointer: `${pointer}/${escapePointer(name)}`,
})

/** Returns the tokens that lead to the schema with an `$anchor` in a file, or undefined if there is none. */
function anchorIn(json: unknown, name: string): string[] | undefined {
  const find = (value: unknown): string[] | undefined => {
    if (!isCollection(value)) return undefined
    if (memberOf(value, '$anchor') === name) return []
    for (const [key, each] of Object.entries(value)) {
      const rest = find(each)
      if (rest) return [escapePointer(key), ...rest]
    }
    return undefined
  }
  return find(json)
}

export const isCollection = (value: unknown): value is object => typeof value === 'object' && value !== null

export const memberOf = (value: object, name: string): unknown =>
  Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined

/** Sets a member. Assigning to `__proto__` would set the prototype. */
export function setMember(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true })
}

function ensureMember(holder: object, name: string): object {
  const known = memberOf(holder, name)
  if (isCollection(known)) return known
  const made = {}
  setMember(holder, name, made)
  return made
}
