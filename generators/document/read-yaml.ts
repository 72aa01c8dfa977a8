/**
 * Reads YAML and JSON. js-yaml parses the values. The `yaml` package takes ten times as long, so it is used only
 * for the errors of an invalid text, and for offsets that js-yaml cannot give.
 */
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'
import { escapePointer } from './escape-pointer.ts'

export interface LocatedYaml {
  /** Undefined if there are errors other than repeated keys. */
  readonly value: unknown
  /** All values of each key that a mapping repeats, by pointer. The last one counts. */
  readonly repeated: ReadonlyMap<string, readonly unknown[]>
  /** Offset of the key, or of the list item itself, by pointer. */
  readonly offsets: ReadonlyMap<string, number>
  readonly errors: readonly { readonly offset: number; readonly message: string }[]
}

/** Returns the value of a text, or undefined if the text is invalid. */
export function readValue(text: string): { readonly value: unknown } | undefined {
  try {
    // With YAML 1.2's core schema, dates stay strings.
    return { value: load(text, { schema: CORE_SCHEMA }) }
  } catch (error) {
    // A RangeError means that the text is nested too deeply; `readLocated` reports that.
    if (error instanceof YAMLException || error instanceof RangeError) return undefined
    throw error
  }
}

/** Returns the value with the offset of every node, and the errors in the text. */
export function readLocated(text: string): LocatedYaml {
  const offsets = new Map<string, number>()
  const repeated = new Map<string, unknown[]>()
  try {
    const parsed = parseDocument(text, { prettyErrors: true, uniqueKeys: true, merge: false })
    const errors = parsed.errors.map((error) => ({
      offset: error.pos[0],
      message: explained(error.message),
    }))
    if (parsed.errors.some(({ code }) => code !== 'DUPLICATE_KEY'))
      return { value: undefined, repeated, offsets, errors }
    const count = errors.length
    const value = toJson(parsed.contents, '', { offsets, repeated, anchors: new Map(), errors })
    return { value: errors.length > count ? undefined : value, repeated, offsets, errors }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return {
      value: undefined,
      repeated,
      offsets,
      errors: [{ offset: 0, message: TOO_DEEP }],
    }
  }
}

const TOO_DEEP = 'the document is nested too deeply'

function explained(message: string): string {
  if (message.startsWith('Maximum call stack')) return TOO_DEEP
  return (message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '')
}

interface YamlReading {
  readonly offsets: Map<string, number>
  readonly repeated: Map<string, unknown[]>
  /** Values of the anchors seen so far. */
  readonly anchors: Map<string, unknown>
  /** Errors that the syntax allows but that prevent a value. */
  readonly errors: { readonly offset: number; readonly message: string }[]
}

/** Converts the syntax tree, and records under each pointer the offset of its key (or of the list item itself). */
function toJson(node: Node | null, pointer: string, reading: YamlReading): unknown {
  if (node === null) return null
  const { offsets, repeated, anchors, errors } = reading
  if (!offsets.has(pointer)) offsets.set(pointer, node.range?.[0] ?? 0)
  // An alias shares the value: expanding aliases could fill memory from a few lines.
  if (isAlias(node)) {
    if (anchors.has(node.source)) return anchors.get(node.source)
    errors.push({
      offset: node.range?.[0] ?? 0,
      message: `alias "${node.source}" has no anchor before it`,
    })
    return null
  }
  const anchored = <Value>(value: Value): Value => {
    if (node.anchor !== undefined) anchors.set(node.anchor, value)
    return value
  }
  if (isScalar(node)) return anchored(node.value)
  if (isSeq(node)) {
    const list: unknown[] = anchored([])
    for (const [index, item] of node.items.entries())
      list.push(toJson(item as Node | null, `${pointer}/${index}`, reading))
    return list
  }
  if (!isMap(node)) return null
  const object: Record<string, unknown> = anchored({})
  for (const pair of node.items) {
    const key = pair.key as Node | null
    const name = String(isScalar(key) ? key.value : key)
    const child = `${pointer}/${escapePointer(name)}`
    offsets.set(child, key?.range?.[0] ?? 0)
    const value = toJson(pair.value as Node | null, child, reading)
    if (Object.hasOwn(object, name)) repeated.set(child, [...(repeated.get(child) ?? [object[name]]), value])
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return object
}
