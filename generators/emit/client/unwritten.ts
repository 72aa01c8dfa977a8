/**
 * Reports parts of requests that a client cannot send as the document describes them, because a wrong request would
 * fail without a clear error.
 */
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../../diagnostics/place.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import { findUnwritten } from '../wire/parameters.ts'
import { schemesOf, uncarriedSchemes } from '../wire/security.ts'
import { findUnwrittenBody } from './bodies.ts'

type Add = (code: string, place: SourceLocation, message: string, hint: string) => void

/** Reports each location once, even if several operations share it. */
export function noteUnwritten(apis: readonly Api[], report: Report): void {
  for (const api of apis) {
    const seen = new Set<string>()
    const add: Add = (code, place, message, hint) => {
      const key = `${code} ${place.pointer} ${message}`
      if (!seen.has(key)) report.add({ code, severity: 'warning', place, message, hint })
      seen.add(key)
    }
    for (const operation of api.operations) {
      for (const parameter of operation.parameters) noteParameter(api, parameter, add)
      for (const { place, message, hint } of findUnwrittenBody(api, operation)) {
        add('client-body', place, message, hint)
      }
    }
    noteSecurity(api, add)
    noteCookies(api, add)
  }
}

function noteParameter(api: Api, parameter: ApiParameter, add: Add): void {
  const found = findUnwritten(api, parameter)
  if (!found) return
  const message = `the client cannot encode the ${parameter.in} parameter ${parameter.name}: it ${found.message}`
  add('client-parameter', parameter.place, message, found.hint)
}

function noteSecurity(api: Api, add: Add): void {
  const asking = new Map<string, ApiOperation>()
  for (const operation of api.operations) {
    for (const name of uncarriedSchemes(api, operation)) {
      if (!asking.has(name)) asking.set(name, operation)
    }
  }
  for (const [name, { id, place }] of asking) {
    const message = `the client does not support the security scheme ${name}, which ${id} requires`
    add(
      'client-security',
      place,
      message,
      'use HTTP Basic, a bearer token or an API key, or let callers set the header with `headers`',
    )
  }
}

/** Reported once for each document: browsers send only cookies that the service has set. */
function noteCookies(api: Api, add: Add): void {
  const schemes = schemesOf(api)
  const inCookie = (operation: ApiOperation) =>
    operation.parameters.find((each) => each.in === 'cookie')?.place ??
    (operation.security.flatMap(Object.keys).some((name) => schemes[name]?.in === 'cookie') &&
      operation.place)
  const place = api.operations.map(inCookie).find((each) => each)
  if (!place) return
  const message = 'a client in a browser cannot send these cookies: only the browser can set them'
  add('client-cookie', place, message, 'call these operations from servers, or use a header instead')
}
