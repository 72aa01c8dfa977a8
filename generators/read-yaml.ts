/**
 * Reading YAML and JSON. js-yaml gives the values, ten times as fast; the `yaml` package says where they stand and
 * what is wrong with a text, and is asked only when a line is to be shown.
 */
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'
import { escapePointer } from './escape-pointer.ts'

export interface LocatedYaml {
  readonly value: unknown
  /** Where the key (or the item itself) of each pointer stands. */
  readonly offsets: ReadonlyMap<string, number>
  readonly errors: readonly { readonly offset: number; readonly message: string }[]
}

/** @returns the value of a text, or undefined when something is wrong with it. */
export function readValue(text: string): { readonly value: unknown } | undefined {
  try {
    // YAML 1.2's core schema: a date stays the text that it is.
    return { value: load(text, { schema: CORE_SCHEMA }) }
  } catch (error) {
    if (error instanceof YAMLException) return undefined
    throw error
  }
}

/** @returns the value with the offset of every node, and what is wrong with the text. */
export function readLocated(text: string): LocatedYaml {
  const parsed = parseDocument(text, { prettyErrors: true, uniqueKeys: true, merge: false })
  const offsets = new Map<string, number>()
  const errors = parsed.errors.map((error) => ({
    offset: error.pos[0],
    message: (error.message.split('\n')[0] ?? error.message).replace(/ at line \d+, column \d+:?$/, ''),
  }))
  const value = errors.length > 0 ? undefined : toJson(parsed, parsed.contents, '', offsets)
  return { value, offsets, errors }
}

/** Converts the syntax tree, noting under each pointer the offset of its key (or of the item itself). */
function toJson(
  document: Document,
  node: Node | null,
  pointer: string,
  offsets: Map<string, number>,
): unknown {
  if (node === null) return null
  if (!offsets.has(pointer)) offsets.set(pointer, node.range?.[0] ?? 0)
  if (isScalar(node)) return node.value
  if (isSeq(node))
    return node.items.map((item, index) =>
      toJson(document, item as Node | null, `${pointer}/${index}`, offsets),
    )
  if (isMap(node)) {
    const object: Record<string, unknown> = {}
    for (const pair of node.items) {
      const key = pair.key as Node
      const name = String(isScalar(key) ? key.value : key)
      const child = `${pointer}/${escapePointer(name)}`
      offsets.set(child, key.range?.[0] ?? 0)
      Object.defineProperty(object, name, {
        value: toJson(document, pair.value as Node | null, child, offsets),
        enumerable: true,
        writable: true,
        configurable: true,
      })
    }
    return object
  }
  if (isAlias(node)) return toJson(document, node.resolve(document) ?? null, pointer, offsets)
  return null
}
