// Which IP addresses are out on the internet. Everything else leads to this machine, to its network or to the metadata
// of its cloud, and is not called for people who merely wrote it into a form.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** IPv6 that is given out for the internet; the rest is special or not given out at all (IANA). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** RFC 6052: an IPv4 address behind a translator. Networks without IPv4 reach every IPv4 host this way. */
const translated = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Azure's metadata, the only one that hides in public space (learn.microsoft.com, "What is 168.63.129.16"). */
const metadata = new Set(['168.63.129.16'])

/**
 * The address behind the spelling, or null for what is none. IPv4 in IPv6 (mapped, or behind a translator) comes out
 * as the IPv4 address that a connection would reach.
 */
export function parseAddress(text: string): Address | null {
  // Asked first: ipaddr.js also takes octal, hexadecimal and short spellings, which sockets do not agree about.
  if (isIP(text) === 0) return null
  const address = ipaddr.parse(text)
  if (!(address instanceof ipaddr.IPv6)) return address
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  return address.match(translated) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address
}

/**
 * True for an address that anybody on the internet can reach. False for private, loopback, link-local, shared (CGNAT),
 * multicast, documentation and reserved ranges, for metadata, and for tunnels to IPv4 (6to4, Teredo), whose far end
 * may be any of these.
 */
export function isPublicAddress(address: Address): boolean {
  if (address.range() !== 'unicast' || metadata.has(address.toString())) return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}
