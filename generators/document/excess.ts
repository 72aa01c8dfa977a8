/** Documents that are beyond measure: whoever walks over them would not come to an end, or not stay within memory. */
import { escapePointer, unescapePointer } from './escape-pointer.ts'

export interface DocumentFault {
  readonly pointer: string
  readonly message: string
}

/** Deeper and larger than any document that a person reads; aliases can make more of a few lines than fits into memory. */
const MAX_DEPTH = 250
const MAX_NODES = 5_000_000

/** Values inside a value, itself included, and the levels of objects and lists that they are nested in. */
interface Measure {
  readonly size: number
  readonly depth: number
}

const SCALAR: Measure = { size: 1, depth: 0 }

/** @returns where a document is beyond measure, if it is: in a circle, nested too deeply, or too large when written out. */
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
    if (open.has(value)) return excess(pointer, 'an alias stands for what it is part of')
    const known = measured.get(value)
    // An alias leads to a value that was measured elsewhere: its own levels count from here as well.
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
    return size > MAX_NODES ? excess(pointer, `holds more than ${MAX_NODES} values, written out`) : whole
  }
  measure(document, '')
  return fault ?? findChain(document)
}

/** Components that lead on to each other further than the stack of whoever follows them. */
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
          return { pointer, message: `a chain of more than ${MAX_CHAIN} components begins at ${first}` }
      }
    }
  }
  return undefined
}

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined

/** Names of the components that a value refers to. */
function referencesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, each] of Object.entries(value)) {
    if (name === '$ref' && typeof each === 'string' && each.startsWith(SCHEMAS))
      found.add(unescapePointer(each.slice(SCHEMAS.length)))
    else referencesIn(each, found)
  }
  return found
}
