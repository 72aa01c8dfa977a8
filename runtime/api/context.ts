import type { IncomingHttpHeaders } from 'node:http'
import type { Account, Context, Cursors } from '../contract.ts'
import { renderFor } from '../events/emission.ts'
import type { Database } from '../platform/database/database.ts'
import { findSpace } from './authenticate.ts'
import { bindCursors } from './cursors.ts'
import { callerOf, type Exchange, type Service } from './exchange.ts'

/** What the handler of this request gets beside its input. */
export function createContext(
  exchange: Exchange,
  service: Service,
  db: Database,
  query: Readonly<Record<string, unknown>>,
  ready?: unknown,
): Context {
  return {
    caller: callerOf(exchange),
    requestId: exchange.requestId,
    now: exchange.now,
    machineNow: service.clock.machine(),
    db,
    cursors: exchange.route!.operation.extensions.pagination
      ? cursorsOf(exchange, service, query)
      : NO_CURSORS,
    baseUrl: service.baseUrl,
    wallet: service.wallet,
    account: exchange.route!.changesAccount
      ? service.account.bind(db, {
          ...exchange.credential!,
          now: exchange.now,
          moved: (space) => {
            exchange.newSpace = space
          },
        })
      : NO_ACCOUNT,
    prepared: ready,
    eventTypes: exchange.version.eventTypes,
    endpointSecrets: service.endpointSecrets,
    streams: service.streams,
    findSpace: () => findSpace(exchange, service),
    header: (name) => headerOf(exchange, name),
    note: (note) => void exchange.notes.push(note),
    deliverSoon: () => {
      exchange.deliveriesDue = true
    },
    emit(event) {
      const rendered = renderFor({ pin: exchange.credential!.pin, now: exchange.now }, event)
      if (rendered) exchange.events.push(rendered)
      return rendered
    },
  }
}

function headerOf({ request, route }: Exchange, name: string): string | undefined {
  const { upHeaders } = route!.operation
  const headers: IncomingHttpHeaders = upHeaders ? upHeaders(request.headers) : request.headers
  const value = headers[name.toLowerCase()]
  return Array.isArray(value) ? value.join(', ') : value
}

function cursorsOf(exchange: Exchange, service: Service, query: Readonly<Record<string, unknown>>): Cursors {
  return bindCursors({
    key: service.cursorKey,
    environment: service.environment,
    tenantId: exchange.credential!.tenant.id,
    operationId: exchange.route!.operation.id,
    query,
  })
}

function noAccount(): never {
  throw new Error('the operation is not declared to change the account')
}

const NO_ACCOUNT: Account = { rotateKeys: noAccount, changeBilling: noAccount, wipeSandbox: noAccount }

function noCursors(): never {
  throw new Error('the operation is not declared as paged')
}

const NO_CURSORS: Cursors = { read: noCursors, write: noCursors }

/** The handler's input, in the form of head. Translations may change what they get: this comes after the fingerprint. */
export function createInput(exchange: Exchange): {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly items?: unknown
} {
  const { pathParameters, query, body, items, route } = exchange
  const { upPath, upQuery, upBody, body: described } = route!.operation
  const path = upPath ? (upPath(pathParameters) as Readonly<Record<string, unknown>>) : pathParameters
  const headQuery = upQuery ? (upQuery(query) as Readonly<Record<string, unknown>>) : query
  if (items) {
    const up = described?.each?.up
    const headItems = up
      ? items.map((item) => (item.valid ? { ...item, value: up(item.value) } : item))
      : items
    return { path, query: headQuery, items: headItems }
  }
  if (body === undefined) return { path, query: headQuery }
  return { path, query: headQuery, body: upBody ? upBody(body) : body }
}
