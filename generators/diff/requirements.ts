/** Compares access to operations: security, and requirements in the operation's extensions. */

import type { Api, ApiOperation, SecurityRequirement } from '../ir/model.ts'
import { isObject } from '../ir/source.ts'
import type { DifferenceCode } from './difference.ts'
import type { Root } from './pairs.ts'
import { type DocumentPair, emptyResult, found, places, positionAt, REQUEST, RESPONSE } from './position.ts'

/** Returns whether `list` admits every caller that `callers` admits. */
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

export function compareSecurity(pair: DocumentPair, a: ApiOperation, b: ApiOperation): void {
  const position = positionAt(pair, REQUEST, () => ({ kind: 'security', operation: b.id }))
  const said = `now requires ${nameOf(b.security)}; it required ${nameOf(a.security)}`
  const names = renamedSchemes(pair.old, pair.next)
  const before = a.security.map((each) =>
    Object.fromEntries(Object.entries(each).map(([name, scopes]) => [names.get(name) ?? name, scopes])),
  )
  if (!admitsAll(b.security, before)) found(position, 'security-tightened', REQUEST, said, places(a, b))
  else if (!admitsAll(before, b.security)) found(position, 'security-loosened', 0, said, places(a, b))
}

/** Extensions that restrict access if present, and those that extend it. */
const KEEP_OUT = ['x-environment', 'x-plan', 'x-verified', 'x-factor']
const LET_IN = ['x-publishable']
/** Scopes, the least restrictive first. */
const SCOPES = ['any', 'read', 'write', 'admin']

/** Compares the requirements in the operation's extensions. */
export function compareRequirements(pair: DocumentPair, a: ApiOperation, b: ApiOperation): void {
  const changed = (name: string) => JSON.stringify(a.extensions[name]) !== JSON.stringify(b.extensions[name])
  const report = (name: string, code: DifferenceCode, breaks: number) => {
    const mask = code === 'pagination-changed' ? RESPONSE : REQUEST
    const position = positionAt(pair, mask, () => ({ kind: 'extension', operation: b.id, name }))
    const [was, is] = [a.extensions[name], b.extensions[name]].map((value) => value ?? 'absent')
    found(position, code, breaks, `${name} is now ${String(is)}; it was ${String(was)}`, places(a, b))
  }
  const check = (name: string, tightened: boolean) => {
    if (tightened) report(name, 'requirement-tightened', REQUEST)
    else report(name, 'requirement-loosened', 0)
  }
  for (const name of KEEP_OUT.filter(changed)) check(name, b.extensions[name] !== undefined)
  for (const name of LET_IN.filter(changed)) check(name, b.extensions[name] === undefined)
  if (changed('x-scope')) {
    const rank = ({ extensions }: ApiOperation) => SCOPES.indexOf(String(extensions['x-scope'] ?? 'any'))
    check('x-scope', rank(b) > rank(a))
  }
  // Documents name buckets but not their sizes, so a different bucket is not known to be stricter.
  if (changed('x-rate-limit')) report('x-rate-limit', 'limit-changed', 0)
  if (changed('x-pagination')) report('x-pagination', 'pagination-changed', RESPONSE)
}

const schemesUsed = ({ operations }: Api): Set<string> =>
  new Set(operations.flatMap(({ security }) => security.flatMap((each) => Object.keys(each))))

/** Compares the security schemes that operations of both versions use: kind and location of the credential. */
export function compareSchemes(old: Api, next: Api): Root {
  const result = emptyResult()
  const [used, stillUsed] = [schemesUsed(old), schemesUsed(next)]
  const names = renamedSchemes(old, next)
  for (const [name, scheme] of Object.entries(old.securitySchemes)) {
    // Differences in which schemes an operation requires are reported for the operation.
    if (!used.has(name) || !stillUsed.has(names.get(name) ?? name)) continue
    const position = positionAt({ old, next, result }, REQUEST, () => ({ kind: 'security-scheme', name }))
    const now = next.securitySchemes[names.get(name) ?? name]
    if (now === undefined)
      found(position, 'security-scheme-removed', REQUEST, 'was removed', places(old, next))
    else {
      const [was, is] = [credentialOf(scheme), credentialOf(now)]
      const lost = was.filter((each) => !is.includes(each))
      if (lost.length > 0)
        found(
          position,
          'security-scheme-changed',
          REQUEST,
          `is now ${is.join(', ')}; it was ${was.join(', ')}`,
          places(old, next),
        )
    }
  }
  return { use: '', result }
}

/** Returns the new names of schemes that were renamed and require the same credential. */
function renamedSchemes(old: Api, next: Api): Map<string, string> {
  const names = new Map<string, string>()
  const free = Object.entries(next.securitySchemes).filter(
    ([name]) => !Object.hasOwn(old.securitySchemes, name),
  )
  for (const [name, scheme] of Object.entries(old.securitySchemes)) {
    if (Object.hasOwn(next.securitySchemes, name)) continue
    const index = free.findIndex(([, other]) => credentialOf(other).join() === credentialOf(scheme).join())
    if (index >= 0) names.set(name, free.splice(index, 1)[0]![0])
  }
  return names
}

/** Returns a text for each requirement of a scheme: kind and location of the credential, and each OAuth flow. */
function credentialOf(scheme: unknown): string[] {
  const {
    type,
    name,
    in: where,
    scheme: http,
    openIdConnectUrl,
    flows,
  } = (scheme ?? {}) as Record<string, unknown>
  const facts = [
    type,
    typeof http === 'string' ? http.toLowerCase() : http,
    where,
    type === 'apiKey' ? name : undefined,
    openIdConnectUrl,
  ]
  const ways = isObject(flows) ? Object.entries(flows) : []
  return [
    facts.filter((part) => part !== undefined).join(' '),
    ...ways.map(([flow, each]) => {
      const { authorizationUrl, tokenUrl, refreshUrl = tokenUrl } = each as Record<string, unknown>
      return [flow, authorizationUrl, tokenUrl, refreshUrl].filter((part) => part !== undefined).join(' ')
    }),
  ]
}
