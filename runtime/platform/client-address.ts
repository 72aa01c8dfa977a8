import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'
import { contains, type Networks, parseNetworks } from './networks.ts'

/** Trusted proxies for X-Forwarded-For: the number of hops in front of this process, or the networks of the proxies. */
export type ProxyTrust = number | Networks

export function readTrust(setting: number | readonly string[]): ProxyTrust {
  return typeof setting === 'number' ? setting : parseNetworks(setting)
}

const MAPPED = '::ffff:'

/**
 * Returns the client address of a request. Reads X-Forwarded-For from its end and only as far as the proxies that
 * appended the entries are trusted, so an entry from the client itself never counts.
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

/**
 * Returns the address in the form that the audit log uses, without the zone, which is meaningful only on this machine.
 */
export function plainAddress(address: string): string {
  const text = address.split('%')[0]!
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : text
}

/** Unmaps IPv4 addresses that an IPv6 socket reports. */
function plain(address: string): string {
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address
}

/**
 * Returns the key under which requests from an address without an API key are counted. An IPv6 client usually owns a
 * whole /64.
 */
export function addressGroup(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  return ipaddr.IPv6.networkAddressFromCIDR(`${address.split('%')[0]}/64`).toString()
}
