// OUTBOUND_ALLOW: the private addresses an operator opens, as CIDRs or single addresses, each with a port or for all.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from '../errors.ts'
import { parseAddress } from './public-address.ts'

/** True when the operator named the address and port. */
export type Allowed = (address: string, port: number) => boolean

interface Entry {
  readonly network: readonly [ipaddr.IPv4 | ipaddr.IPv6, number]
  /** Null: every port. */
  readonly port: number | null
}

/**
 * Reads a comma-separated list such as `10.0.0.0/8, 127.0.0.1:9000, [fd00::/8]:5432` (null: nothing is allowed).
 * Errors: config_invalid naming the entry.
 */
export function readAllowed(text: string | null): Allowed {
  const entries = (text ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(readEntry)
  return (address, port) => {
    const parsed = parseAddress(address)
    return parsed !== null && entries.some((entry) => fits(entry, parsed, port))
  }
}

function fits({ network, port }: Entry, address: ipaddr.IPv4 | ipaddr.IPv6, asked: number): boolean {
  if (network[0].kind() !== address.kind() || (port !== null && port !== asked)) return false
  return address.match(network[0], network[1])
}

function readEntry(entry: string): Entry {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(entry)
  const plain = /^([^:]+):(\d{1,5})$/.exec(entry)
  const [, network = entry, port] = bracketed ?? plain ?? []
  const [address = '', bits, ...rest] = network.split('/')
  const family = isIP(address)
  const bitsMax = family === 6 ? 128 : 32
  const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN
  if (family === 0 || rest.length > 0 || !(length <= bitsMax) || Number(port ?? 1) > 65_535) {
    const detail =
      `OUTBOUND_ALLOW holds ${JSON.stringify(entry)}, expected addresses or CIDRs with commas between, ` +
      'each with :port or without, IPv6 with a port in brackets'
    throw new ServiceError('config_invalid', { detail })
  }
  return { network: [ipaddr.parse(address), length], port: port === undefined ? null : Number(port) }
}
