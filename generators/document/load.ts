/**
 * Reads documents from disk: parses text to plain JSON with a source location for every pointer. All document input
 * comes through here.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { originIn } from './bundle.ts'
import { findExcess } from './excess.ts'
import { type JoinOptions, joinParts } from './join-parts.ts'
import { LazyPlace } from './locate.ts'
import { type Expansion, expandDefaults, originOf } from './operation-defaults.ts'
import { readText } from './read-text.ts'
import { findDangling, type ReferenceFault } from './references.ts'
import { checkShape } from './shape.ts'

/** How documents are read; members of the configuration. */
export interface ReadingOptions extends JoinOptions {
  /** Whether untidy members are errors; otherwise they are removed with a warning. */
  readonly strict: boolean
  /** Whether a part of the wrong shape is left out with an error, instead of the whole document. */
  readonly leavesOut?: boolean
}

const STRICT: ReadingOptions = { strict: true }

export interface LoadedDocument {
  /** As in the configuration, for messages: relative to the working directory. */
  readonly file: string
  readonly text: string
  /** SHA-256 in hexadecimal of the text, and of the files that it refers to. */
  readonly hash: string
  /** The parsed document, with the files that it refers to and operation defaults expanded. */
  readonly json: Readonly<Record<string, unknown>>
  /** Unresolvable references by the pointer of the node that holds each. They are already in the report. */
  readonly dangling: ReadonlyMap<string, ReferenceFault>
  /** The parts that were left out or whose keys are repeated, by their pointers, and unresolvable references by the pointers of their holders. */
  readonly missing: ReadonlyMap<string, unknown>
  /**
   * Returns the source location of a JSON pointer, or of its nearest known ancestor. For a value from a default or a
   * different file, returns the location there.
   */
  place(pointer: string): SourceLocation
}

/**
 * Reads a document.
 *
 * @returns undefined, after reporting errors, if a file cannot be read or is not an OpenAPI document.
 */
export function loadDocument(
  file: string,
  report: Report,
  options: ReadingOptions = STRICT,
): LoadedDocument | undefined {
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
  return parseText(file, text, report, options)
}

/** Parses a YAML or JSON text. Returns undefined after reporting errors. */
export function parseText(
  file: string,
  text: string,
  report: Report,
  options: ReadingOptions = STRICT,
): LoadedDocument | undefined {
  const read = readText(file, text, report, options.leavesOut)
  if (!read) return undefined
  const { json, locator, repeated } = read
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    report.add({
      code: 'document-syntax',
      severity: 'error',
      place: new LazyPlace(file, '', () => locator.ofOffset(0)),
      message: 'the document is not a mapping',
      hint: 'an OpenAPI document starts with `openapi: 3.1.0`',
    })
    return undefined
  }
  const alone: LoadedDocument = {
    file,
    text,
    hash: createHash('sha256').update(text).digest('hex'),
    json: json as Record<string, unknown>,
    dangling: new Map(),
    missing: repeated,
    place: (pointer) => new LazyPlace(file, pointer, () => locator.ofPointer(pointer)),
  }
  if (!isOpenApi(alone, report) || !isWithinMeasure(alone, report)) return undefined
  const joined = joinParts(alone, report, options)
  if (!joined) return withDefaults(alone, report, options)
  const written: LoadedDocument = {
    ...alone,
    hash: joined.hash,
    place: (pointer) => {
      const origin = originIn(joined.origins, pointer)
      return origin
        ? new LazyPlace(origin.part.file, pointer, () => joined.locate(origin))
        : alone.place(pointer)
    },
  }
  return joined.isWhole && isWithinMeasure(written, report)
    ? withDefaults(written, report, options, joined.faults)
    : undefined
}

function withDefaults(
  written: LoadedDocument,
  report: Report,
  options: ReadingOptions,
  known?: ReadonlyMap<object, ReferenceFault>,
): LoadedDocument | undefined {
  const expansion = expandDefaults(written.json)
  if (!expansion) return withReferences(written, report, options, known)
  const document: LoadedDocument = {
    ...written,
    json: expansion.json,
    place: (pointer) => {
      const place = written.place(originOf(pointer, expansion.origins))
      return new LazyPlace(place.file, pointer, () => place)
    },
  }
  const isRight = reportDefaults(expansion, written, report) && isWithinMeasure(document, report)
  return isRight ? withReferences(document, report, options, known) : undefined
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

function isOpenApi({ file, json, place }: LoadedDocument, report: Report): boolean {
  const { openapi, swagger } = json
  const complain = (at: string, message: string, hint: string) => {
    report.add({ code: 'openapi-version', severity: 'error', place: place(at), message, hint })
    return false
  }
  if (openapi === undefined && swagger !== undefined) {
    report.add({
      code: 'document-swagger',
      severity: 'error',
      place: place('/swagger'),
      message: `Swagger ${scalar(swagger)} is not supported`,
      hint: `convert it to OpenAPI 3: \`npx swagger2openapi@7.0.8 --outfile ${file} ${file}\`; if it refers to other files, add \`--resolve\``,
    })
    return false
  }
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
 * shape is wrong, unless faulty parts are left out.
 */
function withReferences(
  document: LoadedDocument,
  report: Report,
  { strict, leavesOut = false }: ReadingOptions,
  known?: ReadonlyMap<object, ReferenceFault>,
): LoadedDocument | undefined {
  const { json, place } = document
  const { faults, references } = checkShape(json)
  for (const { pointer, message, untidy, part } of faults) {
    const severity = untidy && !strict ? 'warning' : 'error'
    const rest =
      severity === 'warning' ? '; the member is ignored' : leavesOut ? `; ${part.pointer} is left out` : ''
    const hint = `correct it${rest}`
    report.add({ code: 'document-shape', severity, place: place(pointer), message, hint })
  }
  const grave = faults.filter(({ untidy }) => !untidy || strict)
  if (leavesOut) for (const { part } of grave) part.cut()
  const dangling = findDangling(json, references, known)
  const reported = new Set(known?.values())
  for (const [pointer, fault] of dangling)
    if (!reported.has(fault)) report.add({ ...fault, severity: 'error', place: place(`${pointer}/$ref`) })
  if (grave.length > 0 && !leavesOut) return undefined
  const left = grave.map(({ part }) => [part.pointer, part.value] as const)
  return { ...document, dangling, missing: new Map([...document.missing, ...dangling, ...left]) }
}
