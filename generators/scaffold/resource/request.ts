/** What is asked for, and what comes of it. */
import type { OperationKind } from '../resource-view.ts'

export interface ResourceRequest {
  /** The tag, in the plural: `coupons`. */
  readonly name: string
  readonly singular: string
  /** Of identifiers: `cpn`. */
  readonly prefix: string
  /** The tag of the neighbour. */
  readonly like: string
  readonly operations: readonly OperationKind[]
  /** Verbs in the past tense: `created`. */
  readonly events: readonly string[]
  /** Properties of the neighbour that it has too, beside those that most resources have. */
  readonly properties: readonly string[]
  /** Members that all operations get in place of the neighbour's: `x-scope`. */
  readonly extensions: Readonly<Record<string, string>>
}

export interface NewResource {
  readonly text: string
  /** Lines of the new document that were written, from and to. */
  readonly blocks: readonly (readonly [from: number, to: number])[]
  /** Lines with a list that names the neighbour and perhaps goes on. */
  readonly lists: readonly number[]
}

/** A request that the document cannot serve. */
export class ResourceError extends Error {
  override readonly name = 'ResourceError'
}

export function fail(message: string): never {
  throw new ResourceError(message)
}
