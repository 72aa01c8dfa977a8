/** Operations of a version, in the form in which the pipeline looks them up. */

import type { Operation as AnyOperation, Version as AnyVersion } from 'dateline/runtime'
import type { QueryTable } from 'dateline/runtime/parameters'
import type { PathMatcher } from 'dateline/runtime/path-matcher'
import type { OperationExtensions, VersionExtensions } from '../../generated/extensions.ts'
import type { Bucket } from '../tenants/limits/limiter.ts'
import type { ApiDocument } from './explanation.ts'
import type { BehaviourName, Handler } from './handler.ts'

export type ServiceOperation = AnyOperation<OperationExtensions>

/** A dated version with its operations. Instants are ISO 8601 UTC. */
export type ServiceVersion = AnyVersion<OperationExtensions, VersionExtensions, BehaviourName>

/** An operation, with values that the pipeline would otherwise compute for every request. */
export interface ApiRoute {
  readonly operation: ServiceOperation
  readonly bucket: Bucket
  /** Undefined if the operation is not implemented: answered with 501. */
  readonly handler: Handler | undefined
  /** Undefined for a read without an audit entry. */
  readonly write: WriteRules | undefined
  /** Names of the path parameters, in path order. */
  readonly pathNames: readonly string[]
  readonly query: QueryTable
  readonly idempotency: 'required' | 'optional' | 'none'
}

/** A version in one environment, in the form in which requests are matched. */
export interface VersionTable {
  readonly name: string
  /** Milliseconds since the epoch; infinite if no sunset is set. */
  readonly sunset: number
  /** Headers of every answer in this version; names and values alternate. */
  readonly headers: readonly string[]
  readonly document: ApiDocument
  readonly matcher: PathMatcher<ApiRoute>
  /** Paths of the operations, as templates. */
  readonly paths: readonly string[]
  /** Headers that are optional in this version → the change of a later version that requires them. */
  readonly requiredLater: ReadonlyMap<string, string>
  /** Identifiers of paginated operations. */
  readonly lists: readonly string[]
  readonly eventTypes: ReadonlySet<string>
  /** URL of the guide to upgrade from this version to the current one. */
  readonly guideUrl: string
  /** Undefined if no change of the family is about behavior. */
  readonly behaviour: ServiceVersion['behaviour'] | undefined
}

export interface Versions {
  /** Oldest first. */
  readonly all: readonly VersionTable[]
  readonly current: VersionTable
  find(name: string): VersionTable | undefined
  docUrl(code: string): string
  /** Returns the oldest version that is supported at that time. */
  successor(now: number): VersionTable
}

export interface WriteRules {
  /** Name of the action in the audit log. */
  readonly auditAction: string
  /** Whether it changes the account: the part for the caller's environment, or the whole account. */
  readonly account: OperationExtensions['account'] | undefined
  /** Whether a successful answer may contain a secret. */
  readonly sensitive: boolean
}
