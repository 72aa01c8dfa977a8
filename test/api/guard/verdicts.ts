import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import type { CheckedItem } from 'dateline/runtime'
import { limitTransport, readBody } from '../../../runtime/api/body.ts'
import { ApiError } from '../../../runtime/api/errors/errors.ts'
import type { ApiService, ReceivedRequest } from '../../../runtime/api/exchange.ts'
import { readParameters } from '../../../runtime/api/parameters.ts'
import { splitTarget } from '../../../runtime/api/pipeline.ts'
import { matchRoute } from '../../../runtime/api/routing.ts'
import type { Versions, VersionTable } from '../../../runtime/api/version-table.ts'
import { type CheckRequest, cutDocument, openContractValidator } from '../../support/contract-validator.ts'
import type { Case, RequestDocument } from './requests.ts'

/** What one check says of a request: undefined when it fits. */
export type Verdict = { readonly code: string; readonly message: string } | undefined

/** Our own verdict: the stages that read a request, by themselves. An item of a batch that is refused counts. */
export async function checkByStages(
  { method, target, headers, text }: Case,
  version: VersionTable,
  versions: Versions,
): Promise<Verdict> {
  const request = Object.assign(new IncomingMessage(new Socket()), {
    method,
    url: target,
    headers: { ...headers },
  })
  if (text !== undefined) request.push(text)
  request.push(null)
  const received = { request, ...splitTarget(target), touched: new Set() } as unknown as ReceivedRequest
  const service = { versions, bodyMs: 60_000 } as unknown as ApiService
  let refused: CheckedItem<unknown> | undefined
  try {
    limitTransport(received, service)
    const { route, pathValues } = matchRoute(received, version, service)
    // The stages between these two check the caller, which is unknown here.
    readParameters(received, version, route, pathValues)
    const { items } = await readBody(received, version, route, service)
    refused = items?.find((item) => !item.valid)
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, message: error.message }
    throw error
  }
  return refused && { code: 'item', message: JSON.stringify(refused) }
}

/** Opens the other check on one operation. */
export function openOther(document: RequestDocument, path: string, method: string): Promise<CheckRequest> {
  const item = document.paths[path]!
  const operation = item[method.toLowerCase()]!
  const alone = {
    ...document,
    paths: {
      [path]: {
        ...('parameters' in item ? { parameters: item.parameters } : {}),
        [method.toLowerCase()]: operation,
      },
    },
  }
  return openContractValidator(cutDocument(alone as unknown as Readonly<Record<string, unknown>>, path, true))
}

/** The other check's verdict. It is given parsed JSON, as behind `express.json()`. */
export async function checkByValidator(
  check: CheckRequest,
  { method, target, headers, text }: Case,
): Promise<Verdict> {
  const body = readJson(text)
  if (body instanceof SyntaxError) return { code: 'malformed', message: body.message }
  const violation = await check({ method, target, headers, body })
  return violation && { code: String(violation.status), message: violation.message }
}

function readJson(text: string | undefined): unknown {
  if (text === undefined || text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    return error
  }
}
