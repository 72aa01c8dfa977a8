/** How the generated part describes a service to the runtime. */
import type { PageWire } from './call.ts'
import type { ErrorClasses } from './errors.ts'

/** What the service calls things on the wire. */
export interface Wire {
  /** Carries the version of the subpath. */
  readonly versionHeader?: string
  readonly idempotencyHeader: string
  readonly requestIdHeader: string
  /** The member of an event that names the version which it is written in. */
  readonly eventVersion: string
  readonly page: PageWire
  /** The member of an error body that holds the error, and its member for a wait in milliseconds. */
  readonly error: { readonly envelope: string; readonly retryAfterMs: string }
}

/** What a request of an operation needs beyond its input. */
export interface OperationRow {
  readonly method: string
  readonly path: string
  /** It takes an idempotency key: one is made for each call and kept over its retries. */
  readonly keyed?: boolean
  /** Its answer is a list that can be walked. */
  readonly listed?: boolean
  /** Its answer is not JSON: the body is given as a stream. */
  readonly streamed?: boolean
  /** Media type of its body, when that is not JSON. */
  readonly media?: string
}

/** One version of a service. */
export interface Service {
  readonly version: string
  readonly wire: Wire
  /** Where the caller's key goes, and what stands before it; absent where the service asks for none. */
  readonly credential?: { readonly header: string; readonly prefix: string }
  readonly errors: ErrorClasses
  readonly operations: Readonly<Record<string, OperationRow>>
}
