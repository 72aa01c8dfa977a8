/** Input and output of `new-resource`. */
import type { OperationKind } from '../resource-view.ts'

export interface ResourceRequest {
  /** The tag, in the plural: `coupons`. */
  readonly name: string
  readonly singular: string
  /** Prefix of identifiers: `cpn`. */
  readonly prefix: string
  /** The tag of the neighbor. */
  readonly like: string
  readonly operations: readonly OperationKind[]
  /** Verbs in the past tense: `created`. */
  readonly events: readonly string[]
  /** Properties to copy from the neighbor, in addition to those that most resources have. */
  readonly properties: readonly string[]
  /** Extensions of all operations that replace the neighbor's: `x-scope`. */
  readonly extensions: Readonly<Record<string, string>>
}

export interface NewResource {
  readonly text: string
  /** First and last line of each block that was written, in the new text. */
  readonly blocks: readonly (readonly [from: number, to: number])[]
  /** Lines with an enumeration that lists the neighbor and may need the new resource. */
  readonly lists: readonly number[]
}

/** A request that cannot be fulfilled with this document. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError'
}

export function fail(message: string): never {
  throw new ResourceError(message)
}
