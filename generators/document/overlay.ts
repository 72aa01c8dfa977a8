/** Applies overlays (Overlay Specification 1.0) to a document, and remembers what they wrote. */
import { dirname, join, relative } from 'node:path'
import { JSONPathError, type JSONValue, query } from 'json-p3'
import type { Report } from '../diagnostics/diagnostic.ts'
import {
  type DocumentPart,
  type Grafts,
  inside,
  isCollection,
  memberOf,
  type Origin,
  setMember,
} from './bundle.ts'
import { LazyPlace, type Position } from './locate.ts'

/** The document that overlays are applied to. */
export interface OverlaidDocument {
  readonly part: DocumentPart
  readonly grafts: Grafts
}

/**
 * Applies the actions of an overlay. Reports invalid actions, and, as warnings, targets that match nothing.
 *
 * @returns the addresses of files that the written values refer to, relative to the document.
 */
export function applyOverlay(
  document: OverlaidDocument,
  overlay: DocumentPart,
  report: Report,
  locate: (origin: Origin) => Position,
): ReadonlySet<string> {
  const at = (pointer: string) =>
    new LazyPlace(overlay.file, pointer, () => locate({ part: overlay, pointer }))
  const invalid = (pointer: string, message: string, hint: string) =>
    report.add({ code: 'overlay-invalid', severity: 'error', place: at(pointer), message, hint })
  const addresses = new Set<string>()
  const root = isCollection(overlay.json) ? overlay.json : {}
  const actions = memberOf(root, 'actions')
  if (!/^1\.\d+(\.|$)/.test(String(memberOf(root, 'overlay'))) || !Array.isArray(actions)) {
    invalid('', 'this is not an overlay', 'start it with `overlay: 1.0.0`, `info` and a list of `actions`')
    return addresses
  }
  const target = memberOf(root, 'extends')
  if (typeof target === 'string' && !target.includes('://')) {
    if (join(dirname(overlay.file), target) !== join(document.part.file)) return addresses
  }
  const writer = new OverlayWriter(document)
  for (const [index, action] of actions.entries()) {
    const pointer = `/actions/${index}`
    const expression = isCollection(action) ? memberOf(action, 'target') : undefined
    if (typeof expression !== 'string') {
      invalid(pointer, 'the action has no `target`', 'write a JSONPath expression, such as `$.info`')
      continue
    }
    const matches = matchesOf(document.part.json, expression)
    if (typeof matches === 'string') {
      invalid(`${pointer}/target`, `${expression} is not a JSONPath expression: ${matches}`, 'see RFC 9535')
      continue
    }
    if (matches.length === 0)
      report.add({
        code: 'overlay-unmatched',
        severity: 'warning',
        place: at(`${pointer}/target`),
        message: `${expression} matches nothing in ${document.part.file}`,
        hint: 'correct the target; if the overlay is for a different version, name that document in `extends`',
      })
    if (memberOf(action, 'remove') === true) {
      if (matches.some((path) => path.length === 0))
        invalid(`${pointer}/target`, 'the whole document cannot be removed', 'select a part of it')
      else writer.remove(matches)
      continue
    }
    const update = structuredClone(memberOf(action, 'update'))
    for (const each of rebase(update, overlay.file, document.part.file)) addresses.add(each)
    const origin = { part: overlay, pointer: `${pointer}/update` }
    const unfit = matches.find((path) => !writer.update(path, update, origin))
    if (unfit)
      invalid(
        origin.pointer,
        `the update does not fit $${unfit.map((key) => `[${JSON.stringify(key)}]`).join('')}`,
        'update an object with an object, and a list with an item; to change a text or a number, update the object around it',
      )
  }
  return addresses
}

type Path = readonly (string | number)[]

/** Returns the paths that match, or what is wrong with the expression. */
function matchesOf(json: unknown, expression: string): Path[] | string {
  try {
    const paths = query(expression, json as JSONValue).locations()
    return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()]
  } catch (cause) {
    if (cause instanceof JSONPathError) return cause.message
    throw cause
  }
}

/** Lets relative references start from the document instead of the overlay. Returns their addresses. */
function rebase(value: unknown, overlay: string, document: string, found = new Set<string>()): Set<string> {
  if (!isCollection(value)) return found
  for (const [name, each] of Object.entries(value)) {
    if (name !== '$ref' || typeof each !== 'string') rebase(each, overlay, document, found)
    else if (!/^(?:#|[a-z][a-z\d+.-]+:)/i.test(each)) {
      const [address = '', ...fragment] = each.split('#')
      const moved = relative(dirname(document), join(dirname(overlay), address)).replaceAll('\\', '/')
      setMember(value, name, [moved, ...fragment].join('#'))
      found.add(moved)
    } else if (!each.startsWith('#')) found.add(each.replace(/#.*$/s, ''))
  }
  return found
}

/** A value of the document that may be modified, with its origin. */
interface Owned {
  readonly node: object
  readonly origin: Origin
}

class OverlayWriter {
  readonly #document: OverlaidDocument
  /** Copies, because joined files can be at several places of the document. */
  readonly #owned: Set<unknown>

  constructor(document: OverlaidDocument) {
    this.#document = document
    this.#owned = new Set([document.part.json])
  }

  /** Merges a value into the one at a path. Returns false if it does not fit. */
  update(path: Path, value: unknown, origin: Origin): boolean {
    const { node } = this.#own(path)
    if (!isCollection(node) || value === undefined) return value === undefined
    if (Array.isArray(node)) {
      if (Array.isArray(value)) this.#append(node, value, origin)
      else this.#append(node, [value], origin, true)
      return true
    }
    if (!isCollection(value) || Array.isArray(value)) return false
    this.#merge(node, value, origin)
    return true
  }

  /** Removes the values at some paths of one target. */
  remove(paths: readonly Path[]): void {
    // From the last item of a list to the first, so that no index changes before its item is removed.
    const inOrder = paths.toSorted((a, b) => Number(b.at(-1)) - Number(a.at(-1)) || b.length - a.length)
    for (const path of inOrder) {
      const { node, origin } = this.#own(path.slice(0, -1))
      const key = path.at(-1)!
      if (Array.isArray(node)) this.#removeItem(node, Number(key), origin)
      else if (isCollection(node)) delete (node as Record<string, unknown>)[String(key)]
    }
  }

  #merge(node: object, update: object, origin: Origin): void {
    for (const [name, value] of Object.entries(update)) {
      const known = memberOf(node, name)
      const from = inside(origin, name)
      const isList = Array.isArray(known)
      if (isCollection(known) && isCollection(value) && isList === Array.isArray(value)) {
        const child = this.#ownMember(node, name, known)
        if (isList) this.#append(child as unknown[], value as unknown[], from)
        else this.#merge(child, value, from)
      } else {
        setMember(node, name, structuredClone(value))
        this.#graft(node, name, from)
      }
    }
  }

  /** @param single whether the origin is that of the only item. */
  #append(list: unknown[], values: readonly unknown[], origin: Origin, single = false): void {
    for (const [index, value] of values.entries()) {
      this.#graft(list, String(list.length), single ? origin : inside(origin, String(index)))
      list.push(structuredClone(value))
    }
  }

  #removeItem(list: unknown[], index: number, origin: Origin): void {
    const origins = list.map((_, each) => this.#originOf(list, String(each), origin))
    list.splice(index, 1)
    origins.splice(index, 1)
    this.#document.grafts.set(list, new Map(origins.map((each, at) => [String(at), each])))
  }

  #own(path: Path): Owned {
    let node = this.#document.part.json as object
    let origin: Origin = { part: this.#document.part, pointer: '' }
    for (const key of path) {
      const name = String(key)
      const child = memberOf(node, name)
      origin = this.#originOf(node, name, origin)
      node = isCollection(child) ? this.#ownMember(node, name, child) : (child as unknown as object)
    }
    return { node, origin }
  }

  #ownMember(holder: object, name: string, child: object): object {
    if (this.#owned.has(child)) return child
    const copy = Array.isArray(child) ? [...child] : { ...child }
    const grafts = this.#document.grafts.get(child)
    if (grafts) this.#document.grafts.set(copy, new Map(grafts))
    this.#owned.add(copy)
    setMember(holder, name, copy)
    return copy
  }

  #graft(holder: object, name: string, origin: Origin): void {
    const known = this.#document.grafts.get(holder) ?? new Map<string, Origin>()
    this.#document.grafts.set(holder, known.set(name, origin))
  }

  #originOf(holder: object, name: string, of: Origin): Origin {
    return this.#document.grafts.get(holder)?.get(name) ?? inside(of, name)
  }
}
