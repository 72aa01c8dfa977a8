/**
 * Emits the row of an operation: the data, in addition to the input, that the client's runtime needs to build requests.
 */
import type { OperationRow, Wire } from '../../client-runtime/service.ts'
import { streamOf } from '../../ir/bodies.ts'
import { jsonEvents } from '../../ir/events.ts'
import { essenceOf, type Framing, isJson } from '../../ir/media-type.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import type { TypeScriptFile } from '../../print/file.ts'
import { literal } from '../../print/literal.ts'
import { isPlainParameter, parameterRow } from '../wire/parameters.ts'
import { alternativesOf, schemesOf, usualAlternatives } from '../wire/security.ts'
import { clientBody, type Encoder } from './bodies.ts'

type StreamReader = 'readEvents' | 'readLines' | 'readRecords'

const READERS: Readonly<Record<Framing, StreamReader>> = {
  events: 'readEvents',
  lines: 'readLines',
  records: 'readRecords',
}

export interface ClientOperationRow {
  readonly row: OperationRow
  /** Whether the row needs `writeParameters`, and the function that encodes the body. */
  readonly writes: boolean
  readonly encoder: Encoder | undefined
  /** Whether the response is a list that supports `for await`. */
  readonly listed: boolean
  /** The function of `client-runtime/streams.ts` that reads the response, if it is a stream of items. */
  readonly reader: StreamReader | undefined
}

/**
 * Returns a function that creates the rows of a version's operations.
 *
 * @param walked whether lists support `for await`.
 */
export function createRows(
  api: Api,
  wire: Wire,
  walked: boolean,
): (operation: ApiOperation) => ClientOperationRow {
  const usual = JSON.stringify(usualAlternatives(api))
  const schemes = schemesOf(api)
  return (operation) => {
    const body = clientBody(api, operation)
    const security = alternativesOf(api, operation)
    const parameters = operation.parameters
      .filter((each) => !isPlainParameter(api, each))
      .map((each) => parameterRow(api, each))
    const answers = operation.responses.filter(({ status }) => status.startsWith('2'))
    const contents = answers.flatMap((response) => response.contents)
    const stream = streamOf(operation)
    const json = stream?.framing === 'events' && stream.items ? jsonEvents(api, stream.items.items) : []
    const row: OperationRow = {
      method: operation.method,
      path: operation.path,
      ...(operation.parameters.some((each) => isHeader(each, wire.idempotencyHeader)) && { keyed: true }),
      ...(contents.length > 0 && !contents.some(({ mediaType }) => isJson(mediaType)) && { streamed: true }),
      ...(stream?.items && { accept: essenceOf(stream.content.mediaType) }),
      ...((json === true || json.length > 0) && { json }),
      ...body?.row,
      ...(JSON.stringify(security) !== usual && { security }),
      ...(parameters.length > 0 && { parameters }),
    }
    const inCookie = security.flat().some((name) => schemes[name]?.in === 'cookie')
    const listed = walked && operation.extensions['x-pagination'] === 'cursor'
    const reader = stream?.items && READERS[stream.framing]
    return { row, writes: parameters.length > 0 || inCookie, encoder: body?.encoder, listed, reader }
  }
}

/** @param codec set if types are mapped, with the function that decodes the answer. */
export function printRow(
  file: TypeScriptFile,
  { row, writes, encoder, reader }: ClientOperationRow,
  codec?: { readonly decoder: string | undefined },
): string {
  const functions = [
    ...(writes ? [`write: ${file.use('writeParameters', '../runtime/parameters.ts')}`] : []),
    ...(encoder ? [`encode: ${file.use(encoder, '../runtime/request-body.ts')}`] : []),
  ]
  if (codec) {
    const decoder = codec.decoder === undefined ? '' : file.use(codec.decoder, './decode.ts')
    functions.push(`values: ${file.use('codecOf', '../runtime/values.ts')}(${decoder})`)
  }
  if (reader) functions.push(`read: ${file.use(reader, '../runtime/streams.ts')}`)
  return [literal(row).slice(0, -' }'.length), ...functions].join(', ').concat(' }')
}

/** Compares header names, which are case-insensitive (RFC 9110 §5.1). */
export function isHeader(parameter: ApiParameter, name: string | undefined): boolean {
  return parameter.in === 'header' && parameter.name.toLowerCase() === name?.toLowerCase()
}
