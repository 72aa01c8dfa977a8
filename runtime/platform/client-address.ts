import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { contains, type Networks, parseNetworks } from './networks.ts'

/** Whose X-Forwarded-For counts: that of so many hops before us, or of peers in these networks. */
export type ProxyTrust = number | Networks

export function readTrust(setting: number | readonly string[]): ProxyTrust {
  return typeof setting === 'number' ? setting : parseNetworks(setting)
}

const MAPPED = '::ffff:'

/**
 * The address that a request comes from. X-Forwarded-For is read from its end, as far as those who wrote it are trusted:
 * what a client wrote itself never counts.
 */
export function clientAddress(request: IncomingMessage, trust: ProxyTrust): string {
  const peer = plain(request.socket.remoteAddress ?? '0.0.0.0')
  if (trust === 0) return peer
  const header = request.headers['x-forwarded-for']
  const written = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',')
  const chain = [...written.map((text) => plain(text.trim())).filter((text) => text !== ''), peer]
  let at = chain.length - 1
  while (at > 0 && isTrusted(chain, at, trust) && ipaddr.isValid(chain[at - 1]!)) at -= 1
  return chain[at]!
}

function isTrusted(chain: readonly string[], at: number, trust: ProxyTrust): boolean {
  return typeof trust === 'number' ? chain.length - 1 - at < trust : contains(trust, chain[at]!)
}

/** In the one spelling that the audit log has, without the zone, which means something on this machine only. */
export function plainAddress(address: string): string {
  const text = address.split('%')[0]!
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text
}

/** IPv4 as IPv4, also where the socket speaks IPv6. */
function plain(address: string): string {
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address
}

/** Under which name an address without a key is counted: an IPv6 client owns its whole /64. */
export function addressGroup(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.split('%')[0]}/64`).toString()
}
