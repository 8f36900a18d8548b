// Calls to addresses that other people gave us. An address is judged twice: when it is saved, so that its owner hears
// of it, and whenever it is called, because what a name leads to changes. The call goes to the very address that was
// judged: we look the name up once and connect the socket to what came of it. node:http follows no redirects; a program
// that follows one itself comes through the same agents and is judged again.

import type { LookupAddress } from 'node:dns'
import type http from 'node:http'
import type https from 'node:https'
import { isIP } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isServiceError, ServiceError } from '../errors.ts'
import { guardedHttpAgent, guardedHttpsAgent } from './agents.ts'
import { readAllowed } from './allowed.ts'
import { type Destination, destinationOf, isOpenPort, readUrl } from './destination.ts'
import { isPublicAddress, parseAddress } from './public-address.ts'
import { openResolver } from './resolver.ts'

export interface Outbound {
  /**
   * Judges a web address before it is saved in the field `attr`; takes `checkMsMax` at most. A name that cannot be
   * looked up now passes, since calling it judges again. Errors: address_refused.
   */
  checkUrl(text: string, attr: string): Promise<void>
  /** The same for a host and port that are not written as URL, such as a database's. Errors: address_refused. */
  checkHost(host: string, port: number, attr: string): Promise<void>
  /**
   * The addresses of a host that may be called at `port`, for a socket of one's own: connect to one of them, never to
   * the name. Errors: address_refused, address_unknown.
   */
  addressesOf(host: string, port: number): Promise<readonly LookupAddress[]>
  /** For http:// and https:// requests; what they refuse to call fails with the errors of `addressesOf`. */
  readonly httpAgent: http.Agent
  readonly httpsAgent: https.Agent
  /** The text records of a name. Errors: address_unknown when no name server gives an answer. */
  textRecords(name: string): Promise<string[]>
  /** Closes idle connections. */
  close(): void
}

export interface OutboundOptions {
  /** OUTBOUND_ALLOW */
  readonly allow: string | null
  /** DNS_SERVERS */
  readonly dnsServers: string | null
}

/** A request that saves an address waits no longer for its name. */
const checkMsMax = 2_000

/** Errors: config_invalid for settings that cannot be read. */
export function openOutbound({ allow, dnsServers }: OutboundOptions): Outbound {
  const isAllowed = readAllowed(allow)
  const resolver = openResolver(dnsServers)

  const judge = ({ host, port, isInternal }: Destination, found: readonly LookupAddress[]) => {
    const good = found.filter(({ address }) => {
      if (isAllowed(address, port)) return true
      const parsed = parseAddress(address)
      return parsed !== null && !isInternal && isOpenPort(port) && isPublicAddress(parsed)
    })
    if (good.length > 0) return good
    if (!isOpenPort(port)) throw refused(`Port ${port} is not called.`)
    if (found.length === 0 && !isInternal) throw unknown(host)
    // Which address it was is not said: a caller could read the network's names that way.
    throw refused('It leads into a private network.')
  }
  const find = async (destination: Destination): Promise<readonly LookupAddress[]> => {
    const { host } = destination
    if (isIP(host) !== 0) return judge(destination, [{ address: host, family: isIP(host) }])
    return judge(
      destination,
      isLocalhost(host) ? loopback : await lookUp(() => resolver.addresses(host), host),
    )
  }
  const addressesOf = async (host: string, port: number): Promise<readonly LookupAddress[]> => {
    const destination = destinationOf(host, port)
    if (destination === null) throw refused('Enter a valid host.')
    return find(destination)
  }
  const check = async (destination: Destination, attr: string): Promise<void> => {
    const late = delay(checkMsMax, null, { ref: false })
    try {
      await Promise.race([find(destination), late])
    } catch (error) {
      if (isServiceError(error, 'address_refused')) throw refused(error.detail, attr)
      if (!isServiceError(error, 'address_unknown')) throw error
    }
  }
  const httpAgent = guardedHttpAgent(addressesOf)
  const httpsAgent = guardedHttpsAgent(addressesOf)
  return {
    async checkUrl(text, attr) {
      const read = readUrl(text)
      if (read.kind === 'refused') throw refused(read.reason, attr)
      await check(read.destination, attr)
    },
    async checkHost(host, port, attr) {
      const destination = destinationOf(host, port)
      if (destination === null) throw refused('Enter a valid host.', attr)
      await check(destination, attr)
    },
    addressesOf,
    httpAgent,
    httpsAgent,
    textRecords: (name) => lookUp(() => resolver.texts(name), name),
    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

/** RFC 6761: not a question for name servers. */
const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

async function lookUp<T>(ask: () => Promise<T>, host: string): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    throw unknown(host, cause)
  }
}

function refused(reason: string, attr?: string): ServiceError {
  return new ServiceError('address_refused', { detail: reason, ...(attr === undefined ? {} : { attr }) })
}

function unknown(host: string, cause?: unknown): ServiceError {
  return new ServiceError('address_unknown', { detail: `The name ${host} could not be looked up.`, cause })
}
