/**
 * Reads documents from disk: parses text to plain JSON with a source location for every pointer. All document input
 * comes through here.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { findExcess } from './excess.ts'
import { type Expansion, expandDefaults, originOf } from './operation-defaults.ts'
import { findOffsets } from './read-offsets.ts'
import { type LocatedYaml, readLocated, readValue } from './read-yaml.ts'
import { findDangling, type ReferenceFault } from './references.ts'
import { scanJson } from './scan-json.ts'
import { checkShape } from './shape.ts'

export interface LoadedDocument {
  /** As in the configuration, for messages: relative to the working directory. */
  readonly file: string
  readonly text: string
  /** SHA-256 of the text in hexadecimal. */
  readonly hash: string
  /** The parsed document, with operation defaults expanded. */
  readonly json: Readonly<Record<string, unknown>>
  /** Unresolvable references by the pointer of the node that holds each. They are already in the report. */
  readonly dangling: ReadonlyMap<string, ReferenceFault>
  /**
   * Returns the source location of a JSON pointer, or of its nearest known ancestor. For a value from a default,
   * returns the location of the default.
   */
  place(pointer: string): SourceLocation
}

/**
 * Reads a document.
 *
 * @param strict whether untidy members are errors; otherwise they are removed with a warning.
 * @returns undefined, after reporting errors, if the file cannot be read or is not an OpenAPI document.
 */
export function loadDocument(file: string, report: Report, strict = true): LoadedDocument | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause)
    report.add({
      code: 'document-unreadable',
      severity: 'error',
      message: `cannot read ${file} (${reason})`,
      hint: 'check the path in the configuration file and its permissions',
    })
    return undefined
  }
  return parseText(file, text, report, strict)
}

/** Parses a YAML or JSON text. Returns undefined after reporting errors. */
export function parseText(
  file: string,
  text: string,
  report: Report,
  strict = true,
): LoadedDocument | undefined {
  const quick = readValue(text)
  const whole = quick ? undefined : readLocated(text)
  const lines = lineFinder(text)
  const at = (offset: number, pointer: string): SourceLocation => ({ file, ...lines(offset), pointer })
  for (const { offset, message } of whole?.errors ?? []) {
    const hint = 'correct the YAML; nothing was generated'
    report.add({ code: 'document-syntax', severity: 'error', place: at(offset, ''), message, hint })
  }
  if (whole && whole.errors.length > 0) return undefined
  const { value: json } = quick ?? (whole as LocatedYaml)
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    report.add({
      code: 'document-syntax',
      severity: 'error',
      place: at(0, ''),
      message: 'the document is not a mapping',
      hint: 'an OpenAPI document starts with `openapi: 3.1.0`',
    })
    return undefined
  }
  const locate: Locate = (pointer) => lines(offsetOf(pointer, whole?.offsets ?? recentOffsets(text)))
  const written: LoadedDocument = {
    file,
    text,
    hash: createHash('sha256').update(text).digest('hex'),
    json: json as Record<string, unknown>,
    dangling: new Map(),
    place: (pointer) => new LazyPlace(file, pointer, locate),
  }
  if (!isOpenApi(written, report) || !isWithinMeasure(written, report)) return undefined
  const expansion = expandDefaults(written.json)
  if (!expansion) return withReferences(written, report, strict)
  const document: LoadedDocument = {
    ...written,
    json: expansion.json,
    place: (pointer) => new LazyPlace(file, pointer, () => locate(originOf(pointer, expansion.origins))),
  }
  const isRight = reportDefaults(expansion, written, report) && isWithinMeasure(document, report)
  return isRight ? withReferences(document, report, strict) : undefined
}

/** @param written the document before defaults are expanded, to which the pointers of faults refer. */
function reportDefaults({ faults }: Expansion, written: LoadedDocument, report: Report): boolean {
  for (const { pointer, other, ...fault } of faults)
    report.add({
      ...fault,
      place: written.place(pointer),
      ...(other !== undefined && { other: written.place(other) }),
    })
  return faults.every(({ severity }) => severity === 'warning')
}

function isOpenApi({ json, place }: LoadedDocument, report: Report): boolean {
  const { openapi, swagger } = json
  const complain = (at: string, message: string, hint: string) => {
    report.add({ code: 'openapi-version', severity: 'error', place: place(at), message, hint })
    return false
  }
  if (openapi === undefined && swagger !== undefined)
    return complain(
      '/swagger',
      `Swagger ${scalar(swagger)} is not supported`,
      'convert the document to OpenAPI 3.1',
    )
  if (typeof openapi === 'number')
    return complain(
      '/openapi',
      `\`openapi: ${openapi}\` is a number, not a string`,
      'quote it: `openapi: "3.1.0"`',
    )
  if (typeof openapi === 'string' && /^3\.[012](\.|$)/.test(openapi)) return true
  return complain(
    '/openapi',
    `\`openapi: ${scalar(openapi)}\` is not supported`,
    'use OpenAPI 3.0, 3.1 or 3.2',
  )
}

const scalar = (value: unknown): string =>
  typeof value === 'object' ? '…' : value === undefined ? '' : String(value)

function isWithinMeasure({ json, place }: LoadedDocument, report: Report): boolean {
  const excess = findExcess(json)
  if (!excess) return true
  const { pointer, message } = excess
  const hint = 'use references to components instead'
  report.add({ code: 'document-excess', severity: 'error', place: place(pointer), message, hint })
  return false
}

/**
 * Checks the shape of a document and finds its unresolvable references. Reports both; returns undefined if the
 * shape is wrong.
 */
function withReferences(
  document: LoadedDocument,
  report: Report,
  strict: boolean,
): LoadedDocument | undefined {
  const { json, place } = document
  const { faults, references } = checkShape(json)
  for (const { pointer, message, untidy } of faults) {
    const severity = untidy && !strict ? 'warning' : 'error'
    const hint = severity === 'error' ? 'correct it' : 'correct it; the member is ignored'
    report.add({ code: 'document-shape', severity, place: place(pointer), message, hint })
  }
  const dangling = findDangling(json, references)
  for (const [pointer, fault] of dangling)
    report.add({ ...fault, severity: 'error', place: place(`${pointer}/$ref`) })
  return faults.every(({ untidy }) => untidy && !strict) ? { ...document, dangling } : undefined
}

interface Position {
  readonly line: number
  readonly column: number
}

type Locate = (pointer: string) => Position

/** A source location that computes its line on first access. Every node has one, but few are ever printed. */
class LazyPlace implements SourceLocation {
  readonly file: string
  readonly pointer: string
  #position: Locate | Position

  constructor(file: string, pointer: string, locate: Locate) {
    this.file = file
    this.pointer = pointer
    this.#position = locate
  }

  get line(): number {
    return this.#found().line
  }

  get column(): number {
    return this.#found().column
  }

  /** Includes the line and column in JSON. */
  toJSON(): SourceLocation {
    return { file: this.file, ...this.#found(), pointer: this.pointer }
  }

  #found(): Position {
    if (typeof this.#position === 'function') this.#position = this.#position(this.pointer)
    return this.#position
  }
}

/** Returns the offset of a pointer's node, or of its nearest known ancestor. */
function offsetOf(pointer: string, offsets: ReadonlyMap<string, number>): number {
  let at = pointer
  while (at !== '' && !offsets.has(at)) at = at.slice(0, at.lastIndexOf('/'))
  return offsets.get(at) ?? 0
}

/**
 * Offsets of recently used documents. The limit bounds memory; findings are located document by document or in
 * pairs, so few documents are used at a time.
 */
const MAX_RECENT = 4
const recent = new Map<string, ReadonlyMap<string, number>>()

function recentOffsets(text: string): ReadonlyMap<string, number> {
  const offsets = recent.get(text) ?? scanJson(text) ?? findOffsets(text) ?? readLocated(text).offsets
  recent.delete(text)
  recent.set(text, offsets)
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!)
  return offsets
}

/** Returns a function that converts an offset to a 1-based line and column. */
function lineFinder(text: string): (offset: number) => Position {
  let starts: number[] | undefined
  return (offset) => {
    if (!starts) {
      starts = [0]
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    }
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - starts[low]! + 1 }
  }
}
