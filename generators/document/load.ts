/** Reading documents from disk: text → plain JSON with a position for every pointer. The only door for input. */
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
  /** As given, for messages: relative to the working directory. */
  readonly file: string
  readonly text: string
  /** SHA-256 of the text, hex. */
  readonly hash: string
  /** What the text says, with the defaults of operations written out. */
  readonly json: Readonly<Record<string, unknown>>
  /** References that lead nowhere, by the pointer of the node that holds each; the report has them. */
  readonly dangling: ReadonlyMap<string, ReferenceFault>
  /** Where the node of a JSON pointer stands, be it in a default; the nearest ancestor that is known otherwise. */
  place(pointer: string): SourceLocation
}

/**
 * @param strict whether what is merely untidy is an error; otherwise it is left out with a warning.
 * @returns the document, or undefined after diagnostics when it cannot be read, or is no OpenAPI document.
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

/** @returns the document of a YAML or JSON text, or undefined after located diagnostics. */
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

/** @param written the document as it is written, which the pointers of faults are of. */
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
    return complain('/openapi', `\`openapi: ${openapi}\` is a number`, 'quote it: `openapi: "3.1.0"`')
  if (typeof openapi === 'string' && /^3\.[01](\.|$)/.test(openapi)) return true
  return complain(
    '/openapi',
    `\`openapi: ${scalar(openapi)}\` is not supported`,
    'OpenAPI 3.0 and 3.1 documents are',
  )
}

const scalar = (value: unknown): string =>
  typeof value === 'object' ? '…' : value === undefined ? '' : String(value)

function isWithinMeasure({ json, place }: LoadedDocument, report: Report): boolean {
  const excess = findExcess(json)
  if (!excess) return true
  const { pointer, message } = excess
  const hint = 'write it with references to components'
  report.add({ code: 'document-excess', severity: 'error', place: place(pointer), message, hint })
  return false
}

/** @returns a well-shaped document that knows which of its references lead nowhere. Reports those of any other as well. */
function withReferences(
  document: LoadedDocument,
  report: Report,
  strict: boolean,
): LoadedDocument | undefined {
  const { json, place } = document
  const { faults, references } = checkShape(json)
  for (const { pointer, message, untidy } of faults) {
    const severity = untidy && !strict ? 'warning' : 'error'
    const hint = severity === 'error' ? 'correct it; nothing can be made of it' : 'it is left out'
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

/** A place that looks for its line when somebody asks: most never are, and there is one for every node. */
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

  /** As JSON it has its line as well. */
  toJSON(): SourceLocation {
    return { file: this.file, ...this.#found(), pointer: this.pointer }
  }

  #found(): Position {
    if (typeof this.#position === 'function') this.#position = this.#position(this.pointer)
    return this.#position
  }
}

/** @returns where the node of a pointer starts; the nearest ancestor that is known otherwise. */
function offsetOf(pointer: string, offsets: ReadonlyMap<string, number>): number {
  let at = pointer
  while (at !== '' && !offsets.has(at)) at = at.slice(0, at.lastIndexOf('/'))
  return offsets.get(at) ?? 0
}

/** Whoever asks for many places asks document by document, or about two: the offsets of more would fill the memory. */
const MAX_RECENT = 4
const recent = new Map<string, ReadonlyMap<string, number>>()

function recentOffsets(text: string): ReadonlyMap<string, number> {
  const offsets = recent.get(text) ?? scanJson(text) ?? findOffsets(text) ?? readLocated(text).offsets
  recent.delete(text)
  recent.set(text, offsets)
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!)
  return offsets
}

/** @returns line and column (1-based) of an offset. */
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
