import { isIP } from 'node:net'
import { domainToUnicode } from 'node:url'
import type { Networks } from '../../platform/networks.ts'
import { checkAddress } from './address-ranges.ts'
import { HTTP_PORT, HTTPS_PORT, isOpenPort } from './ports.ts'

/** The destination of a URL, as far as the URL itself determines it. */
export interface Destination {
  readonly secure: boolean
  /**
   * Host name in lowercase ASCII without a final dot, for DNS and the certificate; empty if the URL has an IP
   * address.
   */
  readonly name: string
  /** IP address if it is known without DNS: the URL's own, or that of `localhost`. */
  readonly address: string | undefined
  readonly port: number
  /** Value of the `Host` header (RFC 9112 §3.2), with the port only if it is not the default of the scheme. */
  readonly authority: string
  readonly path: string
}

/** A destination, or the fault of the URL: text for `details[].issue`, which begins with `must`. */
export type CheckedUrl = Destination | { readonly fault: string }

export interface UrlPolicy {
  readonly allowPlainHttp: boolean
  /** Networks that are allowed although they are not public. */
  readonly allow: Networks
}

/**
 * Fault of host names and of the addresses they resolve to. It names no address, to reveal nothing about internal
 * DNS.
 */
export const NOT_PUBLIC = 'must name a host on the public internet'

const CLOSED_PORT =
  'must use port 80 or 443, or a port from 1024 that is not commonly used for anything other than HTTP'

/** Characters that URL parsers trim, drop or misread. `C` includes lone surrogates and unassigned code points. */
const UNSEEN = /[\p{C}\p{Z}]/u

/** Requires exactly two slashes and then a character that is not a slash. Parsers differ on everything else. */
const SHAPE = /^https?:\/\/([^/?#]+)([/?]|$)/i

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** Without the final dot (RFC 1035 §2.3.4). */
const MAX_NAME = 253

/**
 * Top-level labels of names that are private or not in the DNS: RFC 6761, 6762, 7686, 8375, 9476, ICANN's `internal`,
 * and labels that ICANN does not delegate because private networks use them.
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

/** Whether the name means this machine by definition, even if a name server disagrees (RFC 6761 §6.3). */
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

/**
 * Returns false for a Punycode label that does not decode to a name (UTS #46). URL parsers differ on such labels.
 */
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

/**
 * Requires the usual spelling of an address. `127.1`, `0x7f000001` and fullwidth digits are alternative spellings.
 */
function checkSpelling(address: string, text: string): string | undefined {
  const written = SHAPE.exec(text)?.[1] ?? ''
  const plain = isIP(address) === 6 || written === address || written.startsWith(`${address}:`)
  return plain ? undefined : `must write its IP address as ${address}`
}

function checkKnown(address: string, allow: Networks): string | undefined {
  const what = checkAddress(address, allow)
  return what && `${NOT_PUBLIC}; ${address} is ${what}`
}

/**
 * Checks a URL without DNS: syntax, scheme, port, host name and IP address. Rejects everything that two parsers might
 * read differently. The caller must still resolve the name, and check each address (`checkAddress`).
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
