import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import type { Networks } from '../../platform/networks.ts'
import { checkAddress } from './address-ranges.ts'
import { HTTP_PORT, HTTPS_PORT, isOpenPort } from './ports.ts'

/** Where a URL leads, as far as it says so itself. */
export interface Destination {
  readonly secure: boolean
  /** In small ASCII letters without a final dot, for the name servers and the certificate; empty where the URL has an address. */
  readonly name: string
  /** Known without asking a name server: the URL's own, or that of `localhost`. */
  readonly address: string | undefined
  readonly port: number
  /** As it stands in the `Host` header (RFC 9112 §3.2): the port only where it is not the scheme's own. */
  readonly authority: string
  /** Path and query as they go on the wire. */
  readonly path: string
}

/** A destination, or what is wrong with the URL: prose for `details[].issue`, which begins with `must`. */
export type CheckedUrl = Destination | { readonly fault: string }

export interface UrlPolicy {
  readonly allowPlainHttp: boolean
  /** Networks that are allowed although they are not public. */
  readonly allow: Networks
}

/** Said of names and of what they resolve to, without the address: what our name servers see is nobody's business. */
export const NOT_PUBLIC = 'must name a host of the public internet'

const CLOSED_PORT =
  'must use port 80 or 443, or one from 1024 that is not customary for something else than HTTP'

/** Parsers of URLs trim, drop or misread these; lone surrogates and unassigned code points are among `C`. */
const UNSEEN = /[\p{C}\p{Z}]/u

/** Exactly two slashes, and something that is not a third one: parsers differ on everything else. */
const SHAPE = /^https?:\/\/([^/?#]+)([/?]|$)/i

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** Final dot not counted (RFC 1035 §2.3.4). */
const MAX_NAME = 253

/**
 * Last labels under which names are private, or no names of the DNS: RFC 6761, 6762, 7686, 8375, 9476, ICANN's `internal`, and
 * those that ICANN does not give out because networks use them for themselves.
 */
const PRIVATE_SUFFIXES = new Set([
  'alt',
  'arpa',
  'corp',
  'home',
  'internal',
  'intranet',
  'invalid',
  'lan',
  'local',
  'localdomain',
  'mail',
  'onion',
  'private',
])

const LOOPBACK = '127.0.0.1'

/** Whether the name means this machine by definition, whatever a name server says (RFC 6761 §6.3). */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

function checkText(text: string): string | undefined {
  if (UNSEEN.test(text)) return 'must not contain spaces, control characters or other invisible characters'
  if (text.includes('\\')) return 'must not contain a backslash'
  if (text.includes('#')) return 'must not contain a fragment'
  const authority = SHAPE.exec(text)?.[1]
  if (authority === undefined) return 'must be a URL that begins with http:// or https:// and a host'
  if (authority.includes('@')) return 'must not contain a user name or password'
  if (authority.includes('%')) return 'must not contain a percent-encoded host'
  return undefined
}

/** False for a label in Punycode that does not decode to a name (UTS #46): URL parsers differ on whether they take it. */
function isDecodable(label: string): boolean {
  return !label.startsWith('xn--') || domainToUnicode(label) !== label
}

function checkName(name: string): string | undefined {
  const labels = name.split('.')
  if (name.length > MAX_NAME || !labels.every((label) => LABEL.test(label) && isDecodable(label))) {
    return 'must contain a valid host name'
  }
  if (isLocalhost(name)) return undefined // its address is checked
  return labels.length === 1 || PRIVATE_SUFFIXES.has(labels.at(-1)!) ? NOT_PUBLIC : undefined
}

/** Addresses have to be spelled as everybody reads them: `127.1`, `0x7f000001` and fullwidth digits are other spellings. */
function checkSpelling(address: string, text: string): string | undefined {
  const written = SHAPE.exec(text)?.[1] ?? ''
  const plain = isIP(address) === 6 || written === address || written.startsWith(`${address}:`)
  return plain ? undefined : `must spell its address plainly, as ${address}`
}

function checkKnown(address: string, allow: Networks): string | undefined {
  const what = checkAddress(address, allow)
  return what && `${NOT_PUBLIC}; ${address} is ${what}`
}

/**
 * Checks what a URL says itself: syntax, scheme, port, name, address. Pure, and strict about whatever two parsers
 * might read differently. Names have still to be resolved, and each address checked (`checkAddress`).
 */
export function checkUrl(text: string, policy: UrlPolicy): CheckedUrl {
  const malformed = checkText(text)
  if (malformed) return { fault: malformed }
  const url = URL.parse(text)
  if (!url) return { fault: 'must be a valid URL' }
  const secure = url.protocol === 'https:'
  if (!secure && !policy.allowPlainHttp) return { fault: 'must begin with https://' }
  const port = Number(url.port) || (secure ? HTTPS_PORT : HTTP_PORT)
  if (url.port === '0' || !isOpenPort(port)) return { fault: CLOSED_PORT }
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const literal = isIP(host) !== 0
  const address = literal ? host : isLocalhost(host) ? LOOPBACK : undefined
  const fault =
    (literal ? checkSpelling(host, text) : checkName(host)) ?? (address && checkKnown(address, policy.allow))
  if (fault) return { fault }
  const authority = `${isIP(host) === 6 ? `[${host}]` : host}${url.port && `:${url.port}`}`
  return { secure, name: literal ? '' : host, address, port, authority, path: url.pathname + url.search }
}
