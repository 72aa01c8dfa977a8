/**
 * The seam between generated code and the runtime. Types only: generated code imports this file and
 * nothing else of the runtime; the runtime reads generated tables through these shapes.
 */
import type { Database } from './platform/database/database.ts'
import type { Boundary } from './platform/database/page.ts'
import type { Environment } from './platform/environment.ts'
import type { Caller } from './platform/keys/caller.ts'

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH'

/** Judges one value against a schema. Never coerces, never changes the value, never throws. */
export type Validate = (value: unknown) => boolean

/** Rewrites a valid value of one version into another. May change its argument (up) or copy what it touches (down). */
// biome-ignore lint/suspicious/noExplicitAny: the generated functions have precise types of their own
export type Translate = (value: any) => any

/** How a parameter is spelt on the wire, judged and handed to the handler. */
export interface Parameter {
  /** As on the wire: `limit`, `created[gte]`, `Idempotency-Key`. */
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly required: boolean
  /** An equality filter: head receives a list of values, any of which may match (`x-filter: equality`). */
  readonly set: boolean
  readonly validate: Validate
  /** Where its schema stands in the document, as a JSON pointer: `explain` reads it after a refusal. */
  readonly pointer: string
}

/** A value that must fit the schema at `pointer` of the version's document. */
export interface Judgement {
  readonly validate: Validate
  readonly pointer: string
}

export interface Body extends Judgement {
  readonly required: boolean
  /**
   * A batch (`x-judged: each`): `validate` judges the envelope alone, this judges each item of the named array,
   * and the handler gets `items`, one `Judged` each, instead of `body`. `up` translates one valid item.
   */
  readonly each?: Judgement & { readonly property: string; readonly up?: Translate }
}

/** One fault of a value: where, as `fields[0].key`, and what, as prose. */
export interface Detail {
  readonly field: string
  readonly issue: string
}

/** An item of a batch after its own judgement: valid, or refused with its faults. */
export type Judged<Item> =
  | { readonly valid: true; readonly value: Item }
  | { readonly valid: false; readonly details: readonly Detail[] }

/** What a document declares about an operation beside OpenAPI's own words (`x-scope`, `x-rate-limit`, …). */
export interface OperationExtensions {
  readonly scope: 'any' | 'read' | 'write' | 'admin'
  readonly rateLimit: string
  readonly environment?: Environment
  readonly plan?: 'standard' | 'enterprise'
  readonly verified?: boolean
  readonly publishable?: boolean
  readonly factor?: boolean
  readonly pagination?: 'cursor'
  /** What the audit log calls it: every write has one. Declared by the newest document, as what follows. */
  readonly auditAction?: string
  /** It changes what belongs to the account: as far as the caller's environment is concerned, or the whole. */
  readonly account?: 'environment' | 'whole'
  /** Its success may answer with a secret. */
  readonly sensitive?: boolean
}

/** One row of a version's table: everything the pipeline needs to know before and after the handler. */
export interface Operation {
  /** As head names it. */
  readonly id: string
  readonly method: Method
  /** With parameters in braces: `/v1/passes/{pass_id}`. */
  readonly path: string
  /** Status of success. */
  readonly status: number
  /** Success is a stream of server-sent events: the handler's body gives their text piece by piece. */
  readonly stream?: true
  /** OAuth scopes of which a token needs all; empty when any token will do. */
  readonly oauth: readonly string[]
  readonly extensions: OperationExtensions
  readonly pathParameters: readonly Parameter[]
  readonly query: readonly Parameter[]
  readonly headers: readonly Parameter[]
  readonly body?: Body
  /** From the caller's version to head; absent where nothing on the way touches it. Headers by name in small letters. */
  readonly upPath?: Translate
  readonly upQuery?: Translate
  readonly upHeaders?: Translate
  readonly upBody?: Translate
  /** From head to the caller's version: the body of success. */
  readonly down?: Translate
  /**
   * The same of other answers, errors among them: by status, `4XX` or `default`, the narrowest that there is. Nothing
   * changes an answer whose own entry is undefined; a success without one is as `down` has it.
   */
  readonly downs?: Readonly<Record<string, Translate | undefined>>
  /** A field of the body as handlers name it, `spending_controls.blocked_categories[0]`, under the caller's name. */
  readonly downField?: (field: string) => string
  /** Names of parameters as head has them → as the caller's version has them, where they differ. */
  readonly parameterNames?: Readonly<Record<string, string>>
  /** Statuses that head answers with → what the caller's version answers with, where they differ. */
  readonly downStatus?: Readonly<Record<number, number>>
}

/** How a version shows events of one type. */
export interface EventView {
  /** The oldest version that has them. */
  readonly since: string
  /** Header of head → its name here. */
  readonly headers: Readonly<Record<string, string>>
  /** From head to the version: the whole event. Absent where nothing changes. */
  readonly down?: Translate
}

/** One dated version: its life and its operations. Instants are ISO 8601 UTC. */
export interface Version {
  readonly name: string
  readonly status: 'current' | 'supported' | 'deprecated'
  readonly deprecated?: string
  readonly sunset?: string
  readonly operations: readonly Operation[]
}

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

/** Something that happened, in the form of head. */
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

export interface Cursors {
  /** Throws `invalid_cursor` when the text was not made here for this tenant, environment, operation, filters and order. */
  read(name: 'starting_after' | 'ending_before', text: string): Boundary
  write(boundary: Boundary): string
}

/** What a handler answers; it never touches the response. */
export interface Reply<Status extends number = number, Payload = unknown> {
  readonly status: Status
  readonly body: Payload
}
