/** The operations of a version, as the pipeline looks them up. */

import type { Operation as AnyOperation, Version as AnyVersion } from 'dateline/runtime'
import type { QueryTable } from 'dateline/runtime/parameters'
import type { PathMatcher } from 'dateline/runtime/path-matcher'
import type { OperationExtensions, VersionExtensions } from '../../generated/extensions.ts'
import type { Bucket } from '../tenants/limits/limiter.ts'
import type { ApiDocument } from './explanation.ts'
import type { Handler } from './handler.ts'

/** One row of a version's table. */
export type ServiceOperation = AnyOperation<OperationExtensions>

/** One dated version: its life and its operations. Instants are ISO 8601 UTC. */
export type ServiceVersion = AnyVersion<OperationExtensions, VersionExtensions>

/** An operation with what the pipeline would otherwise look up for every request. */
export interface ApiRoute {
  readonly operation: ServiceOperation
  readonly bucket: Bucket
  /** Undefined while there is none: answered 501. */
  readonly handler: Handler | undefined
  /** Undefined for a read that leaves no trace. */
  readonly write: WriteRules | undefined
  /** Names of the path's parameters, in the order of the path. */
  readonly pathNames: readonly string[]
  readonly query: QueryTable
  readonly idempotency: 'required' | 'optional' | 'none'
}

/** One dated version in one environment, ready to be matched against. */
export interface VersionTable {
  readonly name: string
  /** From when it is refused, milliseconds since the epoch; infinite while nothing is set. */
  readonly sunset: number
  /** Names and values, in turn, that every answer in this version carries. */
  readonly headers: readonly string[]
  readonly document: ApiDocument
  readonly matcher: PathMatcher<ApiRoute>
  /** Paths of the operations, as the document writes them. */
  readonly paths: readonly string[]
  /** Headers that requests may leave out here → the change of a later version that requires them. */
  readonly requiredLater: ReadonlyMap<string, string>
  /** Operations that answer with pages. */
  readonly lists: readonly string[]
  readonly eventTypes: ReadonlySet<string>
  /** Where to read how to leave this version for the current one. */
  readonly guideUrl: string
}

export interface Versions {
  /** Oldest first. */
  readonly all: readonly VersionTable[]
  readonly current: VersionTable
  find(name: string): VersionTable | undefined
  /** Where to read about an error code, in whichever version it came. */
  docUrl(code: string): string
  /** The oldest version that is answered at that time. */
  successor(now: number): VersionTable
}

/** What the documents declare of an operation that writes. */
export interface WriteRules {
  /** What the audit log calls it. */
  readonly auditAction: string
  /** It changes what belongs to the account: as far as the caller's environment is concerned, or the whole. */
  readonly account: OperationExtensions['account'] | undefined
  /** Its success may answer with a secret. */
  readonly sensitive: boolean
}
