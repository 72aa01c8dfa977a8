/** Reads a document's plain JSON together with the location of each value, for `buildApi`. */
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import type { LoadedDocument } from '../document/load.ts'
import { referenceFault } from '../document/references.ts'
import type { References } from '../runtime/explain/references.ts'
import type { Extensions, JsonSchema } from './model.ts'

/** A JSON value of the document with its location. */
export interface Source {
  readonly value: unknown
  readonly pointer: string
  readonly reader: SourceReader
}

/** State that all sources of one document share. */
export interface SourceReader {
  readonly document: LoadedDocument
  readonly report: Report
  readonly openapi30: boolean
  /** Whether unsupported parts are errors: a server must not validate less than its document says. */
  readonly strict: boolean
  /** Resolves references by address, anchor or pointer. */
  readonly references: References
  /** Schemas that validators are compiled from, and everything that they refer to, by pointer. */
  readonly rules: Map<string, JsonSchema>
  /** Nodes that several references share, by kind and pointer. */
  readonly built: Map<string, unknown>
  /** Pointers of the schemas being built inline, to detect cycles. */
  readonly inlining: Set<string>
}

/** Builds a node once, even if several references lead to it: operations share parameters and responses. */
export function once<Node>(source: Source, kind: string, build: () => Node): Node {
  const { built } = source.reader
  const key = `${kind} ${source.pointer}`
  if (!built.has(key)) built.set(key, build())
  return built.get(key) as Node
}

export type ObjectValue = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is ObjectValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function placeOf(source: Source): SourceLocation {
  return source.reader.document.place(source.pointer)
}

/** Returns a member of an object or an item of an array, or undefined if it is absent. */
export function child(source: Source, name: string | number): Source | undefined {
  const { value } = source
  const inside = Array.isArray(value)
    ? value[Number(name)]
    : isObject(value) && Object.hasOwn(value, name)
      ? value[name]
      : undefined
  if (inside === undefined) return undefined
  return { value: inside, pointer: `${source.pointer}/${escapePointer(String(name))}`, reader: source.reader }
}

/** Returns all members of an object, in document order. */
export function entries(source: Source | undefined): [string, Source][] {
  if (!source || !isObject(source.value)) return []
  return Object.keys(source.value).map((name) => [name, child(source, name)!])
}

export function items(source: Source | undefined): Source[] {
  if (!source || !Array.isArray(source.value)) return []
  return source.value.map((_, index) => child(source, index)!)
}

export function text(source: Source, name: string): string | undefined {
  const value = isObject(source.value) ? source.value[name] : undefined
  return typeof value === 'string' ? value : undefined
}

export function flag(source: Source, name: string): boolean {
  return isObject(source.value) && source.value[name] === true
}

export function number(source: Source, name: string): number | undefined {
  const value = isObject(source.value) ? source.value[name] : undefined
  return typeof value === 'number' ? value : undefined
}

/** Returns the `x-…` members of a node. */
export function extensionsOf(source: Source): Extensions {
  if (!isObject(source.value)) return {}
  return Object.fromEntries(Object.entries(source.value).filter(([name]) => name.startsWith('x-')))
}

/** Reports an error at a source. */
export function complain(source: Source, code: string, message: string, hint?: string): void {
  report(source, 'error', code, message, hint)
}

/** Reports a part that is left out: an error if the configuration is strict, otherwise a warning. */
export function leaveOut(source: Source, code: string, message: string, hint: string): void {
  report(source, source.reader.strict ? 'error' : 'warning', code, message, hint)
}

function report(
  source: Source,
  severity: 'error' | 'warning',
  code: string,
  message: string,
  hint: string | undefined,
): void {
  const place = placeOf(source)
  source.reader.report.add({ code, severity, place, message, ...(hint !== undefined && { hint }) })
}

/** Maximum length of a chain of references to references. */
const MAX_CHAIN = 100

/**
 * Follows `$ref` within the document to the first value that is not a reference.
 *
 * @returns undefined, after reporting an error, if the target is missing, external or circular.
 */
export function resolve(source: Source): Source | undefined {
  const seen = new Set<string>()
  let at = source
  for (;;) {
    const ref = text(at, '$ref')
    if (ref === undefined) return at
    if (seen.has(at.pointer)) {
      complain(source, 'ref-circular', `${ref} refers only to itself`, 'define the target')
      return undefined
    }
    seen.add(at.pointer)
    if (seen.size > MAX_CHAIN) {
      once({ ...source, pointer: '' }, 'ref-chain', () => {
        complain(
          source,
          'ref-chain',
          `a chain of more than ${MAX_CHAIN} references`,
          'refer directly to the target',
        )
        return true
      })
      return undefined
    }
    const target = lookUp(at, ref)
    if (!target) return undefined
    at = target
  }
}

/**
 * Follows one reference of a schema; the result may be a reference again. Returns undefined, after reporting an
 * error, if the target does not exist.
 */
export function lookUp(source: Source, ref: string): Source | undefined {
  const { references, document } = source.reader
  const pointer = references.pointerOf(isObject(source.value) ? source.value : {}, ref)
  const at = pointer === undefined ? undefined : sourceAt(source.reader, pointer)
  if (at || document.dangling.has(source.pointer)) return at
  const { code, message, hint } = referenceFault(ref, pointer !== undefined)
  const keyword = text(source, '$ref') === ref ? '$ref' : '$dynamicRef'
  complain({ ...source, pointer: `${source.pointer}/${keyword}` }, code, message, hint)
  return undefined
}

/** @param pointer RFC 6901, like a decoded reference fragment. */
export function sourceAt(reader: SourceReader, pointer: string): Source | undefined {
  let at: Source | undefined = { value: reader.document.json, pointer: '', reader }
  for (const token of pointer.split('/').slice(1))
    at = at && child(at, token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return at
}
