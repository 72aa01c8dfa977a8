/** What applications may be allowed to do, and how scopes include one another. */
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

/** Whether one of the scopes held includes the one that is needed: plain ones those of families, `write` `read`. */
export function includesScope(held: readonly string[], needed: string): boolean {
  return held.some((scope) => {
    const family = familyOf(scope)
    return (family === '' || family === familyOf(needed)) && levelOf(scope) >= levelOf(needed)
  })
}

/** The highest of the plain scopes; null when all are of a family. */
export function plainScope(held: readonly string[]): 'read' | 'write' | 'admin' | null {
  return (['admin', 'write', 'read'] as const).find((scope) => held.includes(scope)) ?? null
}

/** What members may do without a key. */
export const SCOPE_OF_ROLE = { viewer: 'read', developer: 'write', owner: 'admin' } as const

/** What a member may hand on of what is asked for: no more than the role allows. */
export function scopesOfRole(scopes: readonly string[], role: keyof typeof SCOPE_OF_ROLE): readonly string[] {
  return scopes.filter((scope) => includesScope([SCOPE_OF_ROLE[role]], scope))
}

/**
 * What is left of scopes where only others are allowed: each scope that is allowed stays, each other one becomes the
 * highest scope below it that is allowed (`pass:write` becomes `pass:read` where `read` is allowed).
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
