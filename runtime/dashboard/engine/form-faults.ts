/** Explains API errors in the words of a form. */
import type { Detail } from 'dateline/runtime'
import { explain } from 'dateline/runtime/explain'
import { formats } from 'dateline/runtime/formats'
import { current } from '../../../generated/versions.ts'
import type { ErrorBody } from '../../api/errors/errors.ts'
import { type ApiDocument, readDocument } from '../../api/explanation.ts'
import { findOperation, type OperationId } from '../../api/operate.ts'
import { writeCents } from './bodies.ts'
import type { FieldKind, FormField } from './shapes.ts'
import { sentence } from './values.ts'

/** The document of the newest version, in which forms call operations. */
let newest: ApiDocument | undefined

type AskedKind = FieldKind | 'pick'

/** Explains a violated JSON Schema keyword. @param bound the limit that the document sets, if the keyword has one. */
type Explain = (label: string, bound: number) => string

const START: Readonly<Partial<Record<AskedKind, string>>> = {
  amount: 'Enter an amount such as 12.50.',
  number: 'Enter a number.',
  email: 'Enter an email address such as ada@example.com.',
  url: 'Enter a URL such as https://example.com/hooks.',
  date: 'Choose a date.',
  color: 'Enter a color such as #1e3a5f.',
}

/** A missing value, or a value of the wrong type. */
const missing =
  (kind: AskedKind): Explain =>
  (label) =>
    START[kind] ??
    `${['choice', 'pick', 'checks', 'truth', 'file'].includes(kind) ? 'Choose' : 'Enter'} ${label}.`

const atLeast: Explain = (label, bound) => `${label} must be at least ${bound}.`
const atMost: Explain = (label, bound) => `${label} must be at most ${bound}.`
const counted = (bound: number, thing: string) => `${bound} ${thing}${bound === 1 ? '' : 's'}`

/** Messages by JSON Schema keyword. */
const EXPLAIN: Readonly<Record<string, Explain>> = {
  minimum: atLeast,
  maximum: atMost,
  exclusiveMinimum: (label, bound) => `${label} must be greater than ${bound}.`,
  exclusiveMaximum: (label, bound) => `${label} must be less than ${bound}.`,
  minLength: (label, bound) => `${label} must have at least ${counted(bound, 'character')}.`,
  maxLength: (label, bound) => `${label} must have at most ${counted(bound, 'character')}.`,
  minItems: (label, bound) => `${label}: choose at least ${bound}.`,
  maxItems: (label, bound) => `${label}: choose at most ${bound}.`,
}

/** Messages for one kind of field that differ from `EXPLAIN`. */
const OF_KIND: Readonly<Partial<Record<AskedKind, Readonly<Record<string, Explain>>>>> = {
  amount: {
    minimum: (_, bound) => `Enter an amount of at least ${writeCents(bound)}.`,
    maximum: (_, bound) => `Enter an amount of at most ${writeCents(bound)}.`,
    exclusiveMinimum: (_, bound) => `Enter an amount greater than ${writeCents(bound)}.`,
  },
  // Base64 has 4 characters for 3 bytes.
  file: { maxLength: (label, bound) => `${label} is larger than ${writeSize((bound * 3) / 4)}.` },
}

/** Keywords that mean that the value is missing or does not have the right form. */
const MISSING = ['required', 'type', 'enum', 'discriminator', 'minItems', 'const']
/** Keywords that `START` explains better than the document. */
const SHAPE = ['pattern', 'format', 'minLength', 'multipleOf']

/** Formats bytes, for example, `512 kB`. */
function writeSize(bytes: number): string {
  const kilobytes = Math.floor(bytes / 1024)
  return kilobytes >= 1024 ? `${Math.floor(kilobytes / 1024)} MB` : `${kilobytes} kB`
}

function explainFault(
  { label, kind = 'text', pick, isMany }: FormField,
  keyword: string,
  issue: string,
): string {
  const asked = pick ? 'pick' : kind
  const noun = pick && !isMany ? `a ${pick.noun}` : `“${label}”`
  const isMissing = MISSING.includes(keyword) || (SHAPE.includes(keyword) && START[asked] !== undefined)
  // The issue of a keyword with a limit ends with the limit of the document.
  const bound = Number(/-?\d+(?:\.\d+)?(?= \w+$|$)/.exec(issue)?.[0])
  const say = OF_KIND[asked]?.[keyword] ?? (isMissing ? missing(asked) : EXPLAIN[keyword])
  return say?.(isMissing ? noun : label, bound) ?? sentence(issue)
}

/** Returns the JSON path `a[0].b` as the name of a form field, `a.0.b`. */
const nameOf = (path: string): string => path.replaceAll(/\[(\d+)\]/g, '.$1')

/**
 * Explains an error to the member who submitted the form.
 *
 * @param fields the fields with those of rows.
 * @param body the request body that the API refused.
 * @returns messages by field name. Problems of members without a field are missing.
 */
export function explainError(
  operation: OperationId,
  fields: readonly FormField[],
  body: unknown,
  error: ErrorBody,
): Map<string, string> {
  const pointer = findOperation(operation).body?.pointer
  newest ??= readDocument(current)
  const violated = pointer === undefined ? [] : explain(newest.parsed(), pointer, body, formats)
  const keywords = new Map(violated.map(({ field, keyword }) => [field, keyword]))
  const details: readonly Detail[] =
    error.details ?? (error.param ? [{ field: error.param, issue: error.message }] : [])
  const faults = new Map<string, string>()
  for (const { field: path, issue } of details) {
    const field = fieldAt(fields, nameOf(path))
    if (!field || faults.has(field.name)) continue
    faults.set(field.name, error.details ? explainFault(field, keywords.get(path) ?? '', issue) : issue)
  }
  return faults
}

/** Returns the field that sets the member, or the nearest member above it. */
function fieldAt(fields: readonly FormField[], path: string): FormField | undefined {
  const found = fields.find(({ name, of = [name] }) => of.includes(path))
  const end = path.lastIndexOf('.')
  return found ?? (end === -1 ? undefined : fieldAt(fields, path.slice(0, end)))
}
