/**
 * Detects documents that are too deep or too large, which would exhaust the stack or memory of the code that walks
 * them.
 */
import { escapePointer, unescapePointer } from './escape-pointer.ts'

export interface DocumentFault {
  readonly pointer: string
  readonly message: string
}

/** Limits beyond any hand-written document. With aliases, a few lines can expand to more than memory can hold. */
const MAX_DEPTH = 250
const MAX_NODES = 5_000_000

/** The number of values in a value, including itself, and its depth of nested objects and lists. */
interface Measure {
  readonly size: number
  readonly depth: number
}

const SCALAR: Measure = { size: 1, depth: 0 }

/** Returns where a document is cyclic, nested too deeply, or too large when its aliases are expanded. */
export function findExcess(document: object): DocumentFault | undefined {
  const measured = new Map<object, Measure>()
  const open = new Set<object>()
  let fault: DocumentFault | undefined
  const excess = (pointer: string, message: string): Measure => {
    fault ??= { pointer, message }
    return SCALAR
  }
  const measure = (value: unknown, pointer: string): Measure => {
    if (typeof value !== 'object' || value === null || fault) return SCALAR
    if (open.has(value)) return excess(pointer, 'an alias refers to a value that contains it')
    const known = measured.get(value)
    // An alias leads to a value measured elsewhere, whose depth also counts from here.
    if (open.size + (known?.depth ?? 1) > MAX_DEPTH)
      return excess(pointer, `nested more than ${MAX_DEPTH} levels deep`)
    if (known) return known
    open.add(value)
    let size = 1
    let depth = 1
    for (const [name, each] of Object.entries(value)) {
      const inside = measure(each, `${pointer}/${escapePointer(name)}`)
      size += inside.size
      depth = Math.max(depth, inside.depth + 1)
    }
    open.delete(value)
    const whole = { size, depth }
    measured.set(value, whole)
    return size > MAX_NODES
      ? excess(pointer, `holds more than ${MAX_NODES} values when aliases are expanded`)
      : whole
  }
  measure(document, '')
  return fault ?? findChain(document)
}

/** Maximum length of a chain of component references. Code that follows longer chains would overflow the stack. */
const MAX_CHAIN = 2000

const SCHEMAS = '#/components/schemas/'

function findChain(document: object): DocumentFault | undefined {
  const schemas = memberOf(memberOf(document, 'components'), 'schemas')
  const seen = new Set<string>()
  const refsOf = (name: string) => [...referencesIn(memberOf(schemas, name))].values()
  for (const first of typeof schemas === 'object' && schemas !== null ? Object.keys(schemas) : []) {
    if (seen.has(first)) continue
    const path = [refsOf(first)]
    seen.add(first)
    for (let last = path.at(-1); last; last = path.at(-1)) {
      const { value: name, done } = last.next()
      if (done) path.pop()
      else if (!seen.has(name)) {
        seen.add(name)
        path.push(refsOf(name))
        const pointer = `/components/schemas/${escapePointer(name)}`
        if (path.length > MAX_CHAIN)
          return {
            pointer,
            message: `a chain of more than ${MAX_CHAIN} component references begins at ${first}`,
          }
      }
    }
  }
  return undefined
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** Returns the names of the components that a value refers to. */
function referencesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, each] of Object.entries(value)) {
    if (name === '$ref' && typeof each === 'string' && each.startsWith(SCHEMAS))
      found.add(unescapePointer(each.slice(SCHEMAS.length)))
    else referencesIn(each, found)
  }
  return found
}
