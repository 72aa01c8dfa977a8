/**
 * Emits the row of an operation: the data, in addition to the input, that the client's runtime needs to build requests.
 */
import type { OperationRow, Wire } from '../../client-runtime/service.ts'
import { isJson } from '../../ir/media-type.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import type { TypeScriptFile } from '../../print/file.ts'
import { literal } from '../../print/literal.ts'
import { isPlainParameter, parameterRow } from '../wire/parameters.ts'
import { alternativesOf, schemesOf, usualAlternatives } from '../wire/security.ts'
import { clientBody, type Encoder } from './bodies.ts'

export interface ClientOperationRow {
  readonly row: OperationRow
  /** Whether the row needs `writeParameters`, and the function that encodes the body. */
  readonly writes: boolean
  readonly encoder: Encoder | undefined
  /** Whether the response is a list that supports `for await`. */
  readonly listed: boolean
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
    const row: OperationRow = {
      method: operation.method,
      path: operation.path,
      ...(operation.parameters.some((each) => isHeader(each, wire.idempotencyHeader)) && { keyed: true }),
      ...(contents.length > 0 && !contents.some(({ mediaType }) => isJson(mediaType)) && { streamed: true }),
      ...body?.row,
      ...(JSON.stringify(security) !== usual && { security }),
      ...(parameters.length > 0 && { parameters }),
    }
    const inCookie = security.flat().some((name) => schemes[name]?.in === 'cookie')
    const listed = walked && operation.extensions['x-pagination'] === 'cursor'
    return { row, writes: parameters.length > 0 || inCookie, encoder: body?.encoder, listed }
  }
}

export function printRow(file: TypeScriptFile, { row, writes, encoder }: ClientOperationRow): string {
  const functions = [
    ...(writes ? [`write: ${file.use('writeParameters', '../runtime/parameters.ts')}`] : []),
    ...(encoder ? [`encode: ${file.use(encoder, '../runtime/request-body.ts')}`] : []),
  ]
  return [literal(row).slice(0, -' }'.length), ...functions].join(', ').concat(' }')
}

/** Compares header names, which are case-insensitive (RFC 9110 §5.1). */
export function isHeader(parameter: ApiParameter, name: string | undefined): boolean {
  return parameter.in === 'header' && parameter.name.toLowerCase() === name?.toLowerCase()
}
