/** Scopes that apps can get, and how scopes include each other. */
export const OAUTH_SCOPES = [
  'read',
  'write',
  'admin',
  'pass:read',
  'pass:write',
  'card:read',
  'card:write',
  'settlement:read',
  'settlement:write',
] as const

export type OauthScope = (typeof OAUTH_SCOPES)[number]

export const isOauthScope = (text: string): text is OauthScope => OAUTH_SCOPES.some((scope) => scope === text)

const LEVELS: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 }

const levelOf = (scope: string): number => LEVELS[scope.slice(scope.indexOf(':') + 1)] ?? 0

const familyOf = (scope: string): string => scope.slice(0, Math.max(0, scope.indexOf(':')))

/**
 * Whether a held scope includes the needed one. A plain scope includes the same scope of each family; `write`
 * includes `read`.
 */
export function includesScope(held: readonly string[], needed: string): boolean {
  return held.some((scope) => {
    const family = familyOf(scope)
    return (family === '' || family === familyOf(needed)) && levelOf(scope) >= levelOf(needed)
  })
}

/** Returns the highest plain scope; null if all scopes belong to families. */
export function plainScope(held: readonly string[]): 'read' | 'write' | 'admin' | null {
  return (['admin', 'write', 'read'] as const).find((scope) => held.includes(scope)) ?? null
}

/** Scope of a member who acts without a key. */
export const SCOPE_OF_ROLE = { viewer: 'read', developer: 'write', owner: 'admin' } as const

/** Returns the requested scopes that a member may grant, which are those within the member's role. */
export function scopesOfRole(scopes: readonly string[], role: keyof typeof SCOPE_OF_ROLE): readonly string[] {
  return scopes.filter((scope) => includesScope([SCOPE_OF_ROLE[role]], scope))
}

/**
 * Restricts scopes to the allowed ones. An allowed scope stays. A different one becomes the highest allowed scope
 * below it: `pass:write` becomes `pass:read` if `read` is allowed.
 */
export function lowerScopes(scopes: readonly string[], allowed: readonly string[]): readonly string[] {
  const lowered = scopes.filter((scope) => includesScope(allowed, scope))
  for (const scope of scopes) {
    const below = OAUTH_SCOPES.findLast(
      (each) =>
        familyOf(each) === familyOf(scope) && includesScope([scope], each) && includesScope(allowed, each),
    )
    if (below !== undefined && !includesScope(lowered, below)) lowered.push(below)
  }
  return lowered
}
