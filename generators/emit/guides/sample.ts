/** A code sample of a guide, and what it is written from. */

import type { Wire } from '../../client-runtime/service.ts'

/** One use of the API, in the older version and in the newer one. */
export interface Sample {
  readonly title: string
  /** Whether what comes after could not be said before: there is nothing to replace. */
  readonly added: boolean
  readonly curl?: BeforeAfter
  readonly typescript?: BeforeAfter
  /** The part of an answer that differs, as JSON. */
  readonly answer?: BeforeAfter
}

export interface SampleContext {
  readonly wire: Wire
  /** The package of the client; undefined where none is made. */
  readonly client: string | undefined
}

export interface BeforeAfter {
  readonly before: string
  readonly after: string
}
