/** Who may call an operation, and how often: security, and the operation's own extensions. */

import type { Root } from './diff-pairs.ts'
import { type Desk, emptySheet, found, places, REQUEST, RESPONSE, spotAt } from './diff-sheet.ts'
import type { DifferenceCode } from './difference.ts'
import type { Api, Operation, SecurityRequirement } from './model.ts'

/** Whoever was let in by the one list is let in by the other. */
function admitsAll(list: readonly SecurityRequirement[], callers: readonly SecurityRequirement[]): boolean {
  if (list.length === 0) return true
  const all = callers.length === 0 ? [{}] : callers
  return all.every((caller) => list.some((each) => satisfies(caller, each)))
}

function satisfies(caller: SecurityRequirement, wanted: SecurityRequirement): boolean {
  return Object.entries(wanted).every(
    ([scheme, scopes]) =>
      scopes.every((scope) => caller[scheme]?.includes(scope)) && Object.hasOwn(caller, scheme),
  )
}

const nameOf = (list: readonly SecurityRequirement[]): string =>
  list
    .map((each) =>
      Object.entries(each).map(
        ([scheme, scopes]) => `${scheme}${scopes.length > 0 ? ` (${scopes.join(', ')})` : ''}`,
      ),
    )
    .map((schemes) => schemes.join(' and ') || 'nothing')
    .join(', or ') || 'nothing'

export function compareSecurity(desk: Desk, a: Operation, b: Operation): void {
  const spot = spotAt(desk, REQUEST, () => ({ kind: 'security', operation: b.id }))
  const said = `asks for ${nameOf(b.security)}, not ${nameOf(a.security)}`
  if (!admitsAll(b.security, a.security)) found(spot, 'security-tightened', REQUEST, said, places(a, b))
  else if (!admitsAll(a.security, b.security)) found(spot, 'security-loosened', 0, said, places(a, b))
}

/** Extensions that keep callers out when they are there, and those that let more in. */
const KEEP_OUT = ['x-environment', 'x-plan', 'x-verified', 'x-factor']
const LET_IN = ['x-publishable']
/** From what every key may do to what few may. */
const SCOPES = ['any', 'read', 'write', 'admin']

/** What the operation's extensions ask of callers beside OpenAPI's own words. */
export function compareRequirements(desk: Desk, a: Operation, b: Operation): void {
  const changed = (name: string) => JSON.stringify(a.extensions[name]) !== JSON.stringify(b.extensions[name])
  const report = (name: string, code: DifferenceCode, breaks: number) => {
    const mask = code === 'pagination-changed' ? RESPONSE : REQUEST
    const spot = spotAt(desk, mask, () => ({ kind: 'extension', operation: b.id, name }))
    const [was, is] = [a.extensions[name], b.extensions[name]].map((value) => value ?? 'absent')
    found(spot, code, breaks, `${name} is ${String(is)}, not ${String(was)}`, places(a, b))
  }
  const judge = (name: string, tightened: boolean) => {
    if (tightened) report(name, 'requirement-tightened', REQUEST)
    else report(name, 'requirement-loosened', 0)
  }
  for (const name of KEEP_OUT.filter(changed)) judge(name, b.extensions[name] !== undefined)
  for (const name of LET_IN.filter(changed)) judge(name, b.extensions[name] === undefined)
  if (changed('x-scope')) {
    const rank = ({ extensions }: Operation) => SCOPES.indexOf(String(extensions['x-scope'] ?? 'any'))
    judge('x-scope', rank(b) > rank(a))
  }
  // Another bucket, not less of one: figures are in no document.
  if (changed('x-rate-limit')) report('x-rate-limit', 'limit-changed', 0)
  if (changed('x-pagination')) report('x-pagination', 'pagination-changed', RESPONSE)
}

/** Where a key is sent, and of what kind it is. Descriptions and new scopes keep nobody out. */
export function compareSchemes(old: Api, next: Api): Root {
  const sheet = emptySheet()
  for (const [name, scheme] of Object.entries(old.securitySchemes)) {
    const spot = spotAt({ old, next, sheet }, REQUEST, () => ({ kind: 'security-scheme', name }))
    const now = next.securitySchemes[name]
    if (now === undefined) found(spot, 'security-scheme-removed', REQUEST, 'is gone', places(old, next))
    else if (credentialOf(scheme) !== credentialOf(now))
      found(
        spot,
        'security-scheme-changed',
        REQUEST,
        `is ${credentialOf(now)}, not ${credentialOf(scheme)}`,
        places(old, next),
      )
  }
  return { use: '', sheet }
}

function credentialOf(scheme: unknown): string {
  const { type, name, in: where, scheme: http } = (scheme ?? {}) as Record<string, unknown>
  return [type, http, where, name].filter((part) => part !== undefined).join(' ')
}
