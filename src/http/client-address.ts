// Where a request came from when proxies stand in between: the right-most address that is not one of our own proxies.
// Limits and audit use it. What a client writes into X-Forwarded-For is to the left of it and believed by nobody.

import { BlockList, isIP } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { HttpRequest } from './route.ts'

/** Longest header that is looked into (characters). */
const forwardedLengthMax = 2000

/**
 * Reads a comma-separated list of addresses and CIDRs (null: none) into the function that finds a request's sender.
 * Errors: config_invalid naming the entry.
 */
export function clientAddressFinder(trustedProxies: string | null): (request: HttpRequest) => string {
  const trusted = new BlockList()
  for (const entry of (trustedProxies ?? '').split(',').map((text) => text.trim())) {
    if (entry !== '') addEntry(trusted, entry)
  }
  return ({ peerAddress, headers }) => {
    const forwarded = headers['x-forwarded-for'].slice(-forwardedLengthMax)
    const hops = [...forwarded.split(',').map((hop) => hop.trim()), peerAddress]
    let address = peerAddress
    for (const hop of hops.reverse()) {
      if (isIP(hop) === 0) break
      address = hop
      if (!trusted.check(hop, familyOf(hop))) break
    }
    return address
  }
}

function addEntry(trusted: BlockList, entry: string): void {
  const [network = '', bits, ...rest] = entry.split('/')
  const family = isIP(network)
  const bitsMax = family === 6 ? 128 : 32
  const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (family === 0 || rest.length > 0 || !(length <= bitsMax)) {
    const detail = `TRUSTED_PROXIES holds ${JSON.stringify(entry)}, expected addresses or CIDRs with commas between`
    throw new ServiceError('config_invalid', { detail })
  }
  trusted.addSubnet(network, length, familyOf(network))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
