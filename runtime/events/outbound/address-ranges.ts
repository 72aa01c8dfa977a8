import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Networks } from '../../platform/networks.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

interface Range {
  readonly network: [Address, number]
  readonly what: string
}

function ranges(what: string, ...networks: readonly string[]): Range[] {
  return networks.map((text) => ({ network: ipaddr.parseCIDR(text), what }))
}

/**
 * IPv4 ranges that are not public: the IANA special-purpose registry (RFC 6890) without its exceptions inside ranges,
 * multicast, the reserved last sixteenth, and addresses of cloud services that lie among public ones.
 */
const CLOSED_IPV4: readonly Range[] = [
  ...ranges('a loopback address', '127.0.0.0/8'),
  ...ranges('a private address', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'),
  ...ranges('a link-local address', '169.254.0.0/16'),
  ...ranges('a carrier-grade NAT address', '100.64.0.0/10'),
  ...ranges('an unspecified or broadcast address', '0.0.0.0/8', '255.255.255.255/32'),
  ...ranges('a multicast address', '224.0.0.0/4'),
  ...ranges('a documentation address', '192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'),
  ...ranges('a benchmarking address', '198.18.0.0/15'),
  ...ranges('an address of a cloud service', '168.63.129.16/32', '100.100.100.200/32'),
  ...ranges('a special-purpose address', '192.0.0.0/24', '192.31.196.0/24', '192.52.193.0/24'),
  ...ranges('a special-purpose address', '192.88.99.0/24', '192.175.48.0/24'),
  ...ranges('a reserved address', '240.0.0.0/4'),
]

/** The only IPv6 range that IANA assigns to hosts. Most IPv6 forms of IPv4 addresses lie outside. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')

/**
 * Parts of that range that are not for hosts. Teredo, 6to4 and AS112, for example, lead to addresses embedded in
 * them.
 */
const CLOSED_IPV6: readonly Range[] = [
  ...ranges('a special-purpose address', '2001::/23', '2620:4f:8000::/48'),
  ...ranges('a documentation address', '2001:db8::/32', '3fff::/20'),
  ...ranges('a 6to4 address', '2002::/16'),
]

function covers([network, bits]: readonly [Address, number], address: Address): boolean {
  return network.kind() === address.kind() && address.match(network, bits)
}

/**
 * Returns what the address is if it must not be dialed, such as `a loopback address`. Returns undefined for a public
 * address, and for an address in the allowed networks. An IPv4 address in IPv6 form is not treated as IPv4.
 */
export function checkAddress(text: string, allow: Networks): string | undefined {
  if (isIP(text) === 0) return 'not an IP address'
  const address = ipaddr.parse(text)
  if (allow.some((network) => covers(network, address))) return undefined
  if (address.kind() === 'ipv6' && !covers(GLOBAL_IPV6, address)) return 'not a public IPv6 address'
  const closed = address.kind() === 'ipv4' ? CLOSED_IPV4 : CLOSED_IPV6
  return closed.find(({ network }) => covers(network, address))?.what
}
