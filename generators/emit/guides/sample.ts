/** Code samples of a guide. */

import type { Wire } from '../../client-runtime/service.ts'

/** One use of the API in the older version and in the newer one. */
export interface Sample {
  readonly title: string
  /** Whether the old version could not express the new use, so that it replaces nothing. */
  readonly added: boolean
  readonly curl?: BeforeAfter
  readonly typescript?: BeforeAfter
  /** The part of a response that differs, as JSON. */
  readonly answer?: BeforeAfter
}

export interface SampleContext {
  readonly wire: Wire
  /** The client's npm package; undefined if there is none. */
  readonly client: string | undefined
}

export interface BeforeAfter {
  readonly before: string
  readonly after: string
}
