import { behaviourOf } from 'dateline/runtime/behaviour'
import type { Database } from '../database/database.ts'
import { sandboxOf } from '../database/space.ts'
import { renderFor } from '../events/emit/emit.ts'
import type { EmittedEvent, NewEvent, RenderedEvent } from '../events/emit/queries.ts'
import type { StreamStart } from '../events/emit/streams.ts'
import { findSpace } from './access.ts'
import type { AccountActions } from './account.ts'
import { type ApiCall, type ApiService, callerOf } from './exchange.ts'
import { faultsInForce, injectedDecline } from './faults.ts'
import type { Context, FurtherEntry, RequestAudit, RequestEvents, RequestFacts } from './handler.ts'
import type { Cursors } from './lists/cursors.ts'
import { bindCursors } from './lists/cursors.ts'
import { translate, translateNamed } from './touched.ts'

/** Effects of a handler in addition to its own statements. They are written only if the handler succeeds. */
export class Effects implements RequestAudit {
  readonly auditEntries: FurtherEntry[] = []
  readonly events: RenderedEvent[] = []
  /** The tenant's new space, if the handler wiped the sandbox. */
  newSpace: string | undefined = undefined
  /** Whether the handler changed what credentials hold. */
  changesCredentials = false
  /** Whether the handler queued deliveries in addition to those of its events. */
  hasDeliveries = false

  add(entry: FurtherEntry): void {
    this.auditEntries.push(entry)
  }
}

/**
 * Creates the context of a handler.
 *
 * @param query in canonical form.
 * @param effects undefined in a read and before the transaction of a write, where effects are not allowed.
 * @param prepared result of the handler's `prepare` or `pause`.
 * @param isRetry whether the database aborted an earlier attempt.
 */
export function createContext(
  call: ApiCall,
  service: ApiService,
  db: Database,
  query: Readonly<Record<string, unknown>>,
  effects?: Effects,
  prepared?: unknown,
  isRetry = false,
): Context {
  const { pagination, account } = call.route.operation.extensions
  return {
    caller: callerOf(call),
    request: new Facts(call, service),
    behaviour: behaviourOf(call.version, (change) => call.touched.add(change)),
    db,
    cursors: pagination ? cursorsOf(call, service, query) : NO_CURSORS,
    links: service.links,
    events: new Events(call, service, effects),
    audit: effects ?? NO_AUDIT,
    account: account && effects ? accountOf(call, service, db, effects) : NO_ACCOUNT,
    endpointSecrets: service.endpointSecrets,
    seals: service.seals,
    vault: service.vault,
    cardEncryption: service.cardEncryption,
    sanctions: service.sanctions,
    licensedStates: service.licensedStates,
    passNfc: service.passNfc,
    usdcChain: service.usdcChain,
    rates: service.rates,
    faults: faultsInForce(call.credential, call.now),
    injectedDecline: injectedDecline(call),
    prepared,
    isRetry,
  }
}

class Facts implements RequestFacts {
  readonly id: string
  readonly version: string
  readonly now: number
  readonly machineNow: number
  readonly #call: ApiCall

  constructor(call: ApiCall, { clock }: ApiService) {
    this.id = call.requestId
    this.version = call.version.name
    this.now = call.time
    this.machineNow = clock.machine()
    this.#call = call
  }

  header(name: string): string | undefined {
    const { request, route } = this.#call
    const { upHeaders } = route.operation
    const headers = translateNamed(this.#call, upHeaders, request.headers)
    const value = headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

class Events implements RequestEvents {
  readonly types: ReadonlySet<string>
  readonly #call: ApiCall
  readonly #service: ApiService
  readonly #effects: Effects | undefined

  constructor(call: ApiCall, service: ApiService, effects: Effects | undefined) {
    this.types = call.version.eventTypes
    this.#call = call
    this.#service = service
    this.#effects = effects
  }

  emit(event: NewEvent): EmittedEvent | undefined {
    if (!this.#effects) throw noEffects()
    const { credential, time } = this.#call
    const rendered = renderFor({ pin: credential.pin, now: time }, event)
    if (rendered) this.#effects.events.push(rendered)
    return rendered
  }

  deliverSoon(): void {
    if (!this.#effects) throw noEffects()
    this.#effects.hasDeliveries = true
  }

  stream(after: StreamStart): AsyncIterable<string> {
    return this.#service.streams.open({
      after,
      response: this.#call.response,
      types: this.types,
      findSpace: () => findSpace(this.#call, this.#service),
    })
  }
}

function noEffects(): Error {
  return new Error('a read, or a handler that only prepares, must not emit events or write audit entries')
}

const NO_AUDIT: RequestAudit = {
  add() {
    throw noEffects()
  },
}

function cursorsOf(call: ApiCall, service: ApiService, query: Readonly<Record<string, unknown>>): Cursors {
  return bindCursors({
    key: service.cursorKey,
    environment: service.environment,
    tenantId: sandboxOf(call.credential.space),
    operationId: call.route.operation.id,
    query,
    lists: call.version.lists,
  })
}

function noCursors(): never {
  throw new Error('the operation does not declare pagination (x-pagination)')
}

const NO_CURSORS: Cursors = { read: noCursors, write: noCursors }

function accountOf(
  { credential, now }: ApiCall,
  service: ApiService,
  db: Database,
  effects: Effects,
): AccountActions {
  const { tenant, space, key } = credential
  return service.account.bind(db, {
    tenant,
    space,
    key,
    now,
    moved: (newSpace) => {
      effects.newSpace = newSpace
    },
    changed: () => {
      effects.changesCredentials = true
    },
  })
}

function noAccount(): never {
  throw new Error('the operation does not declare that it changes the account (x-account)')
}

const NO_ACCOUNT: AccountActions = {
  rotateKeys: noAccount,
  changeBilling: noAccount,
  wipeSandbox: noAccount,
  createSandbox: noAccount,
  createSandboxKey: noAccount,
  deleteSandbox: noAccount,
  putFaults: noAccount,
  deleteFaults: noAccount,
}

export interface HandlerInput {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly items?: unknown
}

export function createInput(call: ApiCall): HandlerInput {
  const { pathParameters, query, body, items, route } = call
  const { upPath, upQuery, upBody, body: described } = route.operation
  const path: HandlerInput['path'] = translateNamed(call, upPath, pathParameters)
  const canonicalQuery: HandlerInput['query'] = translateNamed(call, upQuery, query)
  if (items) {
    const up = described?.each?.up
    const canonicalItems = up
      ? items.map((item) => (item.valid ? { ...item, value: translate(call, up, item.value) } : item))
      : items
    return { path, query: canonicalQuery, items: canonicalItems }
  }
  if (body === undefined) return { path, query: canonicalQuery }
  return { path, query: canonicalQuery, body: upBody ? translate(call, upBody, body) : body }
}
