/** Reads the header, the records and the trailer of a clearing file in any format. */
import type { Detail } from 'dateline/runtime'
import { documents } from '../../../generated/network/documents.js'
import { current } from '../../../generated/network/versions.ts'
import { explainAll } from '../../api/explanation.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import type { ExceptionReason } from '../network/exceptions.ts'
import type { NetworkMessages } from '../network/network.ts'
import { ROUTES } from '../processor/message-routes.ts'
import type { FilePart, RawRecord } from './format.ts'

/** The file as a whole cannot be imported. The message says why and what to do. */
export class ClearingFileError extends Error {
  override name = 'ClearingFileError'
}

export interface FileHeader {
  readonly fileId: string
  readonly network: string
  /** ISO 8601 date of the network's business day. */
  readonly businessDate: string
  readonly environment: Environment
}

/** Control totals of the network. */
export interface FileTrailer {
  readonly records: number
  /** Cents. */
  readonly clearings: bigint
  readonly refunds: bigint
  /** Hexadecimal SHA-256 of all bytes before the trailer. */
  readonly sha256: string
}

/** The kinds of records, and the operations of the network document that they are messages of. */
const OPERATIONS = {
  clearing: 'clear',
  refund: 'refund',
  reversal: 'reverse',
  chargeback: 'moveChargeback',
} as const

export type ClearingKind = (typeof OPERATIONS)[keyof typeof OPERATIONS]

export const isClearingKind = (kind: string | null): kind is ClearingKind =>
  Object.values(OPERATIONS).some((each) => each === kind)

/** A message of one of the kinds. */
export type LineMessage = {
  [Kind in ClearingKind]: { kind: Kind; message: NetworkMessages[Kind][0] }
}[ClearingKind]

/** A record that can be applied. */
export interface ClearingLine {
  readonly line: number
  readonly content: LineMessage
  /** The interchange category that the network names. */
  readonly category: string | undefined
}

/** A record that can never be applied. */
export interface FaultyLine {
  readonly line: number
  readonly fault: { readonly reason: ExceptionReason; readonly detail: string; readonly field?: string }
  /** What can be read of the message. */
  readonly content?: Partial<LineMessage>
}

const ID = /^[A-Za-z0-9._-]{1,64}$/
const DIGITS = /^\d{1,30}$/
const SHA256 = /^[0-9a-f]{64}$/

const textOf = (record: RawRecord, name: string): string => {
  const value = record[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** Throws `ClearingFileError` unless all members of the header are right. */
export function readHeader(header: RawRecord): FileHeader {
  const [fileId, network] = [textOf(header, 'file_id'), textOf(header, 'network')]
  const businessDate = textOf(header, 'business_date')
  const environment = ENVIRONMENTS.find((each) => each === header.environment)
  const faults = [
    !ID.test(fileId) && 'file_id is not 1 to 64 letters, digits, ., _ or -',
    !/^[\x20-\x7e]{1,64}$/.test(network) && 'network is not a name of 1 to 64 characters',
    !isDate(businessDate) && 'business_date is not a date such as 2026-11-25',
    !environment && `environment is not one of ${ENVIRONMENTS.join(', ')}`,
  ].filter((fault) => fault !== false)
  if (faults.length > 0 || !environment)
    throw new ClearingFileError(
      `The file has no usable header: ${faults.join('; ')}. Ask the network for a corrected file.`,
    )
  return { fileId, network, businessDate, environment }
}

/** Whether the text is a day of the calendar in ISO 8601. */
export function isDate(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** Throws `ClearingFileError` unless all members of the trailer are right. */
export function readTrailer(trailer: RawRecord): FileTrailer {
  const amounts = ['clearings_amount', 'refunds_amount'].map((name) => textOf(trailer, name))
  const [records, sha256] = [textOf(trailer, 'records'), textOf(trailer, 'sha256')]
  if (!/^\d{1,12}$/.test(records) || !amounts.every((text) => DIGITS.test(text)) || !SHA256.test(sha256))
    throw new ClearingFileError(
      'The trailer of the file needs records, clearings_amount and refunds_amount as digits, and a hexadecimal sha256. Ask the network for a corrected file.',
    )
  return { records: Number(records), clearings: BigInt(amounts[0]!), refunds: BigInt(amounts[1]!), sha256 }
}

/** What a record adds to the control totals; undefined if that cannot be read. */
export function amountsOf(
  part: FilePart,
): { readonly clearings: bigint; readonly refunds: bigint } | undefined {
  if (part.type !== 'record') return undefined
  const { kind, amount } = part.record
  if (kind === 'reversal' || kind === 'chargeback') return NO_AMOUNTS
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return undefined
  if (kind === 'clearing') return { ...NO_AMOUNTS, clearings: BigInt(amount) }
  return kind === 'refund' ? { ...NO_AMOUNTS, refunds: BigInt(amount) } : undefined
}

const NO_AMOUNTS = { clearings: 0n, refunds: 0n }

const routeOf = new Map([...ROUTES.values()].map((route) => [route.kind, route]))

const isKind = (kind: unknown): kind is keyof typeof OPERATIONS =>
  typeof kind === 'string' && Object.hasOwn(OPERATIONS, kind)

/** Names and values that the sender chose may hold a card number. */
const masked = (text: string) => text.replaceAll(/\d{12,}/g, '…')

/**
 * Reads a record.
 * @param expected the number that the line must have.
 */
export async function readRecord(part: FilePart, expected: number): Promise<ClearingLine | FaultyLine> {
  const faulty = (reason: ExceptionReason, detail: string, field?: string): FaultyLine => ({
    line: expected,
    fault: { reason, detail: masked(detail), ...(field !== undefined && { field: masked(field) }) },
  })
  if (part.type === 'unreadable') return faulty('unreadable_line', `The line ${part.issue}.`)
  if (part.type !== 'record') return faulty('unreadable_line', 'The line is a second header.')
  const { line, kind, interchange_category: category, ...message } = part.record
  if (line !== expected)
    return faulty('invalid_message', `The line must have the number ${expected}.`, 'line')
  if (!isKind(kind))
    return faulty('invalid_message', `The kind must be one of ${Object.keys(OPERATIONS).join(', ')}.`, 'kind')
  if (category !== undefined && (typeof category !== 'string' || !ID.test(category)))
    return faulty('invalid_message', 'The interchange category is not an identifier.', 'interchange_category')
  const operation = OPERATIONS[kind]
  const { validate, pointer } = routeOf.get(operation)!
  if (validate(message)) {
    // The route of an operation validates the messages of that operation.
    return { line: expected, content: { kind: operation, message } as LineMessage, category }
  }
  const { field, issue } = await explainFault(pointer, message)
  return faulty('invalid_message', `${field} ${issue}.`, field)
}

async function explainFault(pointer: string, message: unknown): Promise<Detail> {
  const document = await documents[current]!()
  return explainAll(
    { version: { name: current, document: { parsed: () => document } }, pointer },
    message,
  )[0]!
}
