/**
 * Wraps validators as Standard Schemas (https://standardschema.dev), which tRPC, TanStack Form, Hono and other libraries
 * accept.
 */

import type { Json } from './explain/walk.ts'
import { explain, issueOf } from './explain.ts'
import { formats } from './formats.ts'

/**
 * The interface of version 1 of Standard Schema, which its specification allows to copy, so that no package is needed.
 * These schemas are synchronous, and return the value that they are given.
 */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'dateline'
    readonly validate: (value: unknown) => StandardResult<Output>
    /** Only types: there is no value at run time. */
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  /** Property names and indices from the value to the problem. */
  readonly path: readonly (string | number)[]
}

/**
 * Wraps a validator.
 *
 * @param document contains the schema, and `pointer` (RFC 6901) locates it, to explain why a value is refused.
 */
export function standardSchema<Value>(
  validate: (value: unknown) => value is Value,
  document: Json,
  pointer: string,
): StandardSchemaV1<Value> {
  const issuesOf = (value: unknown): StandardIssue[] =>
    explain(document, pointer, value, formats).map((fault) => ({ message: issueOf(fault), path: fault.path }))
  return {
    '~standard': {
      version: 1,
      vendor: 'dateline',
      validate(value) {
        if (validate(value)) return { value }
        const issues = issuesOf(value)
        return { issues: issues.length > 0 ? issues : [{ message: 'does not match its schema', path: [] }] }
      },
    },
  }
}
