/** A POST that the crash tests repeat. */

import type { Environment } from '../../runtime/platform/environment.ts'
import type { TestDatabase } from '../support/database.ts'
import type { Send } from '../support/service.ts'

/** A POST that is to be asked for once, whatever happens. */
export interface Post {
  readonly operation: string
  /** What is particular about it, where an operation has several. */
  readonly about?: string
  /** Of the answer. */
  readonly status: number
  /** Makes what the request needs, and gives the request. */
  prepare(
    send: Send,
    owner: { readonly database: TestDatabase; readonly tenantId: string; readonly space: string },
  ): Promise<{ readonly path: string; readonly body?: unknown; readonly id: string }>
  /** Counts what the request changes: `$1` is the tenant, `$2` the id that `prepare` gave. */
  readonly effect: string
  /** The count after one effect; before it is 0. */
  readonly once: number
  /** Actions of its entries in the audit log. */
  readonly audit: readonly string[]
  /** Types of the events that tell of it. */
  readonly events: readonly string[]
  /** Where alone what it needs can be made; absent: in both. */
  readonly environment?: Environment
  /** Needs a second factor, each time. */
  readonly factor?: boolean
}
