import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Network = readonly [Address, number]

/** Parsed addresses and networks. */
export type Networks = readonly Network[]

const MAPPED_BITS = 96

/**
 * Parses addresses and CIDR networks. IPv4-mapped IPv6 networks (`::ffff:10.0.0.0/104`) become IPv4. Throws for other
 * text.
 */
export function parseNetworks(texts: readonly string[]): Networks {
  return texts.map((text) => {
    const [address, bits] = text.includes('/') ? ipaddr.parseCIDR(text) : wholeAddress(text)
    if (isMapped(address) && bits >= MAPPED_BITS) return [address.toIPv4Address(), bits - MAPPED_BITS]
    return [address, bits]
  })
}

function wholeAddress(text: string): [Address, number] {
  const address = ipaddr.parse(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function isMapped(address: Address): address is ipaddr.IPv6 {
  return address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress()
}

/** Whether the address is in one of the networks. Returns false if the text is not an address. */
export function contains(networks: Networks, text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
}
