/**
 * Reading YAML and JSON. js-yaml gives the values; the `yaml` package, which takes ten times as long, says what is wrong with a
 * text, and where values stand in one of which nobody else can say it.
 */
import { CORE_SCHEMA, load, YAMLException } from 'js-yaml'
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'
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
    // A text that is nested deeper than the stack is wrong as well; the other reader says so.
    if (error instanceof YAMLException || error instanceof RangeError) return undefined
    throw error
  }
}

/** @returns the value with the offset of every node, and what is wrong with the text. */
export function readLocated(text: string): LocatedYaml {
  const offsets = new Map<string, number>()
  try {
    const parsed = parseDocument(text, { prettyErrors: true, uniqueKeys: true, merge: false })
    const errors = parsed.errors.map((error) => ({
      offset: error.pos[0],
      message: explained(error.message),
    }))
    if (errors.length > 0) return { value: undefined, offsets, errors }
    const value = toJson(parsed.contents, '', { offsets, anchors: new Map(), errors })
    return { value: errors.length > 0 ? undefined : value, offsets, errors }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return {
      value: undefined,
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
  /** What the aliases met from here on stand for. */
  readonly anchors: Map<string, unknown>
  /** What the syntax allows and the values do not. */
  readonly errors: { readonly offset: number; readonly message: string }[]
}

/** Converts the syntax tree, noting under each pointer the offset of its key (or of the item itself). */
function toJson(node: Node | null, pointer: string, reading: YamlReading): unknown {
  if (node === null) return null
  const { offsets, anchors, errors } = reading
  if (!offsets.has(pointer)) offsets.set(pointer, node.range?.[0] ?? 0)
  // One value, however many places it stands in: written out, a few lines of aliases fill any memory.
  if (isAlias(node)) {
    if (anchors.has(node.source)) return anchors.get(node.source)
    errors.push({
      offset: node.range?.[0] ?? 0,
      message: `no anchor "${node.source}" stands before its alias`,
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
    Object.defineProperty(object, name, {
      value: toJson(pair.value as Node | null, child, reading),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return object
}
