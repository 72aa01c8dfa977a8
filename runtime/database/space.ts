/** Place of a tenant's rows: the tenant, its sandbox, and how often the sandbox was wiped before. */
export interface SpaceParts {
  readonly tenantId: string
  readonly wipes: number
  /** Number of the named sandbox; undefined in the default sandbox and in live. */
  readonly sandbox?: number | undefined
  /**
   * Number of wipes of the default sandbox, if the named sandbox has rows of it: they keep what their secrets and codes are
   * bound to.
   */
  readonly bound?: number | undefined
}

/**
 * Returns the space of a tenant: the value of `tenant_id` in its rows of an environment. The space is the tenant
 * identifier until the sandbox is first wiped. Each wipe starts a new space, and a worker deletes the rows of the old
 * one later. The spaces of a named sandbox contain its number: `ten_….s2`, and `ten_….s2.1` after a wipe. A copy of the
 * default sandbox also contains how often that was wiped: `ten_….s2.1.d0`.
 */
export function spaceOf(tenantId: string, wipes: number, sandbox?: number, bound?: number): string {
  const place = sandbox === undefined ? tenantId : `${tenantId}.s${sandbox}`
  const space = wipes === 0 ? place : `${place}.${wipes}`
  return bound === undefined ? space : `${space}.d${bound}`
}

/** Returns the parts of a space. */
export function readSpace(space: string): SpaceParts {
  const [tenantId = space, first = '', ...rest] = space.split('.')
  if (!first.startsWith('s')) return { tenantId, wipes: Number(first) }
  const bound = rest.at(-1)?.startsWith('d') ? Number(rest.pop()!.slice(1)) : undefined
  return { tenantId, wipes: Number(rest[0] ?? 0), sandbox: Number(first.slice(1)), bound }
}

/** Returns the first space of the sandbox that a space belongs to. It identifies the sandbox, however often it was wiped. */
export function sandboxOf(space: string): string {
  const { tenantId, sandbox } = readSpace(space)
  return spaceOf(tenantId, 0, sandbox)
}

/**
 * Returns the part of a space that secrets and codes are bound to. The named sandboxes of an account have it in common, so
 * they stay valid when a restore or a copy gives a named sandbox the same rows in a new space. In the default sandbox, rows
 * never change their space, and a copy of it has this part in common with it.
 */
export function lastingSpaceOf(space: string): string {
  const { tenantId, sandbox, bound } = readSpace(space)
  if (bound !== undefined) return spaceOf(tenantId, bound)
  return sandbox === undefined ? space : `${tenantId}.s`
}

/** Pattern of a space. */
export const SPACE_PATTERN = 'ten_[0-9a-z]{26}(?:\\.s\\d{1,9})?(?:\\.\\d{1,9})?(?:\\.d\\d{1,9})?'
