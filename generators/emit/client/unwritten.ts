/** What no client can send as a document has it: found where it stands, since a wrong request says nothing. */
import type { Report } from '../../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../../diagnostics/place.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import { findUnwritten } from '../wire/parameters.ts'
import { schemesOf, uncarriedSchemes } from '../wire/security.ts'
import { findUnwrittenBody } from './bodies.ts'

type Add = (code: string, place: SourceLocation, message: string, hint: string) => void

/** @param report gets a warning for each place; operations that share it say it once. */
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
  const message = `the client fails when it is given the parameter ${parameter.name} of the ${parameter.in}: it ${found.message}`
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
    const message = `the client fills in no credential for the security scheme ${name}, which ${id} asks for`
    add(
      'client-security',
      place,
      message,
      'use HTTP Basic, a bearer token or an API key; or give its header with `headers`',
    )
  }
}

/** Said once for a document: browsers send the cookies that the service has set, and no others. */
function noteCookies(api: Api, add: Add): void {
  const schemes = schemesOf(api)
  const inCookie = (operation: ApiOperation) =>
    operation.parameters.find((each) => each.in === 'cookie')?.place ??
    (operation.security.flatMap(Object.keys).some((name) => schemes[name]?.in === 'cookie') &&
      operation.place)
  const place = api.operations.map(inCookie).find((each) => each)
  if (!place) return
  const message = 'a client in a browser cannot send the cookies that it is given: only the browser sets them'
  add('client-cookie', place, message, 'call these operations from servers, or describe a header')
}
