// Names as addresses and as text records, from DNS_SERVERS when set, else as this machine resolves names.

import { promises as dns, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { ServiceError } from '../errors.ts'

export interface Resolver {
  /**
   * Every address of a name; none when there is no such name. Rejects with the resolver's own error when the answer is
   * not known: a server is silent or broken, or too many names are being looked up.
   */
  addresses(name: string): Promise<LookupAddress[]>
  /** The text records of a name, the strings of each joined; none when there is no such name. Rejects likewise. */
  texts(name: string): Promise<string[]>
}

/** A name server gets this long, twice. */
const answerMsMax = 1_500
const tries = 2
/** The system's look-ups block a thread each, of the 16 that DuckDB and the file system also use. */
const lookupsMax = 6

/** Errors: config_invalid for DNS_SERVERS that cannot be read. */
export function openResolver(dnsServers: string | null): Resolver {
  const resolver = new dns.Resolver({ timeout: answerMsMax, tries })
  if (dnsServers !== null) useServers(resolver, dnsServers)
  return {
    addresses: dnsServers === null ? systemLookup() : (name) => askBoth(resolver, name),
    async texts(name) {
      const records = await noneWhenUnknown(resolver.resolveTxt(name))
      return records.map((strings) => strings.join(''))
    },
  }
}

function useServers(resolver: dns.Resolver, dnsServers: string): void {
  try {
    resolver.setServers(dnsServers.split(',').map((server) => server.trim()))
  } catch (cause) {
    const detail =
      `DNS_SERVERS is ${JSON.stringify(dnsServers)}, expected addresses with commas between, ` +
      'each with :port or without'
    throw new ServiceError('config_invalid', { detail, cause })
  }
}

function systemLookup(): Resolver['addresses'] {
  let running = 0
  return async (name) => {
    if (running >= lookupsMax) throw new Error(`${lookupsMax} names are being looked up already`)
    running++
    try {
      return await noneWhenUnknown(dns.lookup(name, { all: true }))
    } finally {
      running--
    }
  }
}

async function askBoth(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([
    noneWhenUnknown(resolver.resolve4(name)),
    noneWhenUnknown(resolver.resolve6(name)),
  ])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (found.length === 0 && failed !== undefined) throw failed.reason
  return found.map((address) => ({ address, family: isIP(address) }))
}

/** No such name, and no record of this kind, are answers. */
async function noneWhenUnknown<T>(answer: Promise<T[]>): Promise<T[]> {
  try {
    return await answer
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node's dns only throws errors of this shape
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}
