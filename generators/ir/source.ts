/** Walking a document's plain JSON with its place at hand: the reading side of `build`. */
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { escapePointer } from '../document/escape-pointer.ts'
import type { LoadedDocument } from '../document/load.ts'
import { referenceFault } from '../document/references.ts'
import type { References } from '../runtime/explain/references.ts'
import type { Extensions, JsonSchema } from './model.ts'

/** A JSON value of the document together with where it stands. */
export interface Source {
  readonly value: unknown
  readonly pointer: string
  readonly reader: SourceReader
}

/** What all sources of one document share. */
export interface SourceReader {
  readonly document: LoadedDocument
  readonly report: Report
  readonly openapi30: boolean
  /** Whether what cannot be held is an error: a family that serves with these checks must not check less than it says. */
  readonly strict: boolean
  /** What references lead to, by address, anchor or pointer. */
  readonly references: References
  /** Schemas that validators are compiled of, and all that they refer to, by pointer. */
  readonly rules: Map<string, JsonSchema>
  /** What was built of a pointer that several places refer to; by kind and pointer. */
  readonly built: Map<string, unknown>
  /** Pointers of schemas that are being written out in place of a reference: one that leads back to itself ends. */
  readonly inlining: Set<string>
}

/** Builds what stands at a source once, however many refer to it: operations share a few parameters and responses. */
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

/** A member of an object or an item of an array; undefined when it is absent. */
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

/** All members of an object, in the order of the document. */
export function entries(source: Source | undefined): [string, Source][] {
  if (!source || !isObject(source.value)) return []
  return Object.keys(source.value).map((name) => [name, child(source, name)!])
}

/** All items of an array. */
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

/** The `x-…` members of a node. */
export function extensionsOf(source: Source): Extensions {
  if (!isObject(source.value)) return {}
  return Object.fromEntries(Object.entries(source.value).filter(([name]) => name.startsWith('x-')))
}

/** Reports an error at a source and goes on. */
export function complain(source: Source, code: string, message: string, hint?: string): void {
  report(source, 'error', code, message, hint)
}

/** Reports something that is left out: an error where checks serve, a warning where they are only printed. */
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

/** References that consist of nothing but a reference. */
const MAX_CHAIN = 100

/**
 * Follows `$ref` within the document until something that is no reference.
 * @returns undefined after a diagnostic when the target is missing, elsewhere, or refers back to itself.
 */
export function resolve(source: Source): Source | undefined {
  const seen = new Set<string>()
  let at = source
  for (;;) {
    const ref = text(at, '$ref')
    if (ref === undefined) return at
    if (seen.has(at.pointer)) {
      complain(source, 'ref-circular', `${ref} refers to itself and to nothing else`, 'define the target')
      return undefined
    }
    seen.add(at.pointer)
    if (seen.size > MAX_CHAIN) {
      once({ ...source, pointer: '' }, 'ref-chain', () => {
        complain(
          source,
          'ref-chain',
          `more than ${MAX_CHAIN} references lead on to each other`,
          'refer to the target',
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

/** @returns what one reference of a schema leads to, be it a reference again; undefined where a diagnostic says that it leads nowhere. */
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

/** @param pointer RFC 6901, as a reference's fragment once it is decoded. */
export function sourceAt(reader: SourceReader, pointer: string): Source | undefined {
  let at: Source | undefined = { value: reader.document.json, pointer: '', reader }
  for (const token of pointer.split('/').slice(1))
    at = at && child(at, token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return at
}
