/** Selects the tools that a server offers. */
import type { ApiOperation } from '../ir/model.ts'
import type { OperationTool } from './tools.ts'

export interface ToolSelection {
  /** Only operations with one of these tags. Empty: all. */
  readonly tags: readonly string[]
  /** Operation ids, tags and scopes whose operations may write. */
  readonly allowed: readonly string[]
  /** Scopes of the credential. Operations that need others are left out. Undefined: the scopes are unknown. */
  readonly scopes: readonly string[] | undefined
}

/** Returns the tools that only read, and those that are allowed to write. */
export const selectTools = (
  tools: readonly OperationTool[],
  { tags, allowed, scopes }: ToolSelection,
): readonly OperationTool[] =>
  tools.filter(({ operation, tool }) => {
    const named = [operation.id, operation.tag, ...scopesOf(operation)]
    return (
      (tags.length === 0 || tags.includes(operation.tag)) &&
      (tool.annotations.readOnlyHint || named.some((name) => allowed.includes(name))) &&
      (scopes === undefined || isWithin(operation, scopes))
    )
  })

/** Names that select operations: `allowed` must name one of them. */
export const selectableNames = (tools: readonly OperationTool[]): readonly string[] => [
  ...new Set(tools.flatMap(({ operation }) => [operation.id, operation.tag, ...scopesOf(operation)])),
]

/** Scopes that an operation declares: in `security`, and in `x-scope` for keys that have no OAuth. */
function scopesOf(operation: ApiOperation): readonly string[] {
  return [
    ...operation.security.flatMap((requirement) => Object.values(requirement).flat()),
    ...ownScope(operation),
  ]
}

const ownScope = ({ extensions }: ApiOperation): readonly string[] =>
  typeof extensions['x-scope'] === 'string' ? [extensions['x-scope']] : []

/** Returns whether one of the security alternatives needs no other scopes. */
function isWithin(operation: ApiOperation, scopes: readonly string[]): boolean {
  const fits = (needed: readonly string[]) => needed.every((scope) => scopes.includes(scope))
  const { security } = operation
  return (
    fits(ownScope(operation)) &&
    (security.length === 0 || security.some((requirement) => fits(Object.values(requirement).flat())))
  )
}
