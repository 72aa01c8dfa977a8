/** What the service's handlers are given, and the generated tables under the service's own extensions. Types only. */
import type { Operation as AnyOperation, Version as AnyVersion } from 'dateline/runtime'
import type { OperationExtensions, VersionExtensions } from '../generated/extensions.ts'
import type { Database } from './platform/database/database.ts'
import type { Boundary } from './platform/database/page.ts'
import type { Caller } from './platform/keys/caller.ts'

export type {
  Body,
  CheckedItem,
  Detail,
  EventView,
  Method,
  Parameter,
  Reply,
  Translate,
  Validate,
  Verdict,
} from 'dateline/runtime'
export type { OperationExtensions } from '../generated/extensions.ts'

/** One row of a version's table. */
export type Operation = AnyOperation<OperationExtensions>

/** One dated version: its life and its operations. Instants are ISO 8601 UTC. */
export type Version = AnyVersion<OperationExtensions, VersionExtensions>

/** One of several things that a request did, told in the audit log before the request's own entry. */
export interface AuditNote {
  /** The resource and what was done to it: `key.rotated`. */
  readonly action: string
  readonly targetId: string
}

/** A new key and the one it replaces. */
export interface RotatedKey {
  readonly id: string
  readonly replacesId: string
  /** The key's text, seen this once. */
  readonly secret: string
}

/** What belongs to the account rather than to an environment. Only for operations that are declared to change it. */
export interface Account {
  /** Makes a successor of every secret key of the environment and marks the old ones pending revocation. */
  rotateKeys(): Promise<readonly RotatedKey[]>
  /** Absent members stay as they are, null removes; gives the plan as it is now. */
  changeBilling(change: {
    readonly plan?: Caller['tenant']['plan']
    readonly billingEmail?: string | null
  }): Promise<Caller['tenant']['plan']>
  /** Gives the tenant a new, empty space in the sandbox, and says how many records of each type were in the old one. */
  wipeSandbox(): Promise<Readonly<Record<string, number>>>
}

/** What a handler may use. Times are service time, in milliseconds since the epoch. */
export interface Context {
  readonly caller: Caller
  readonly request: RequestFacts
  /** The environment's database: inside the request's transaction for writes, a pool for reads. */
  readonly db: Database
  /** Makes and reads pagination cursors bound to this request. */
  readonly cursors: Cursors
  readonly links: Links
  readonly events: RequestEvents
  readonly audit: AuditNotes
  readonly account: Account
  readonly endpointSecrets: EndpointSecrets
  /** What the handler's `prepare` gave; undefined where it has none. */
  readonly prepared: unknown
}

/** What is known of the request itself. */
export interface RequestFacts {
  readonly id: string
  /** When it came, by the service clock. */
  readonly now: number
  /** Machine time, which decides about leases. */
  readonly machineNow: number
  /** A header that the operation declares, as it was sent. */
  header(name: string): string | undefined
}

/** What addresses are made of that the service answers with. */
export interface Links {
  /** Origin of this environment's API, without a slash at the end. */
  readonly baseUrl: string
  readonly wallet: Wallet
  readonly passTokens: PassTokens
}

/** Events of the caller's tenant, as its request sees and makes them. */
export interface RequestEvents {
  /** Types that the caller's version knows. */
  readonly types: ReadonlySet<string>
  /** Records an event, to be written with what the handler writes. Typed by `emit` of events/emit.ts: call that. */
  emit(event: NewEvent): EmittedEvent | undefined
  /** Deliveries were put into the queue: they are looked for as soon as this is committed. */
  deliverSoon(): void
  /** Server-sent events of the types that the caller's version knows, until the client goes or its key is revoked. */
  stream(after: StreamStart): AsyncIterable<string>
}

/** The audit log, as a request writes it beside its own entry. */
export interface AuditNotes {
  note(note: AuditNote): void
}

/** Something that happened, in the form of the canonical version. */
export interface NewEvent {
  readonly type: string
  /** The object concerned, under the name of its type. */
  readonly data: Readonly<Record<string, unknown>>
  /** The same before the change, for events that tell of one. */
  readonly before?: Readonly<Record<string, unknown>>
  /** Absent: the endpoints that are subscribed to the type. */
  readonly recipients?: { readonly only: string } | { readonly everyBut: string }
}

/** An event in the version that the tenant is pinned to, as it will be sent. */
export interface EmittedEvent {
  readonly id: string
  readonly type: string
  readonly version: string
  /** The event as JSON. */
  readonly body: string
}

/** Secrets of webhook endpoints: whoever has one can sign as the service. */
export interface EndpointSecrets {
  /** A new one: what the tenant sees once, and what is stored. */
  make(tenantId: string, endpointId: string): { readonly secret: string; readonly sealed: Buffer }
}

/** A place in the tenant's sequence of events. */
export interface StreamStart {
  readonly sequence: number
  readonly id: string
}

/** Live streams of a tenant's events. */
export interface EventStreams {
  /** Server-sent events, one for each event after the given place in the tenant's sequence, until the client goes. */
  open(options: {
    readonly after: StreamStart
    readonly types: ReadonlySet<string>
    /** Whose events; undefined when the caller may watch no longer. Asked again and again. */
    readonly findSpace: () => Promise<string | undefined>
  }): AsyncIterable<string>
}

/** Signs what the holder's wallet app takes. */
export interface Wallet {
  /** What is to be kept of the link that saves a tenant's pass to Google Wallet: `googleSaveUrl` makes the link of it. */
  signGoogleLink(
    tenantId: string,
    pass: { readonly id: string; readonly templateId: string; readonly kind: string },
  ): Promise<string>
}

/** Where a pass is. */
export interface PassPlace {
  readonly space: string
  readonly passId: string
}

/** `page`: its page and files; `apple`: Apple's `authenticationToken`, which devices send back. */
export type TokenUse = 'page' | 'apple'

export interface PassTokens {
  /** 60 characters, base64url; up to 66 where the sandbox has been wiped. The same for the same pass, always. */
  write(use: TokenUse, place: PassPlace): string
  /** Undefined for what this deployment has not written for that use. */
  read(use: TokenUse, token: string): PassPlace | undefined
  /** What a scanner reads: 39 letters and digits, upper case. */
  scanCode(place: PassPlace): string
  /** The pass of that code, if it is the space's; in either case of letters. */
  readScanCode(space: string, code: string): string | undefined
}

export interface Cursors {
  /** Throws `invalid_cursor` when the text was not made here for this tenant, environment, operation, filters and order. */
  read(name: 'starting_after' | 'ending_before', text: string): Boundary
  write(boundary: Boundary): string
}
