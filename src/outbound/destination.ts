// An address as somebody wrote it, before any name is looked up: what it says, and whether it may say that.

export interface Destination {
  /** Host without brackets and trailing dots, in lower case; a name or an IP address. */
  readonly host: string
  readonly port: number
  /** True for names that exist only inside networks: an operator must have named what they lead to. */
  readonly isInternal: boolean
}

export type ReadUrl =
  | { readonly kind: 'url'; readonly url: URL; readonly destination: Destination }
  | { readonly kind: 'refused'; readonly reason: string }

const urlLengthMax = 2048
const hostLengthMax = 253
const privateNames =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home|corp|private|home\.arpa|onion)$/
/** Spellings that programs read in different ways; none belongs into an address. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ambiguous = /[\u0000-\u0020\u007f-\u00a0\\]|%5c|%00|%0a|%0d/i
/**
 * Ports from 1024 that speak something else and would take a request for it: the part of the Fetch standard's "bad
 * ports" there. Of those below only 80 and 443 are open.
 */
const badPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679,
  6697, 10080, 11211,
])

/** Reads an address of the web; `refused` says in one sentence what is wrong with it. */
export function readUrl(text: string): ReadUrl {
  if (text.length > urlLengthMax) return refused(`It is longer than ${urlLengthMax} characters.`)
  if (ambiguous.test(text)) return refused('It holds spaces, control characters or backslashes.')
  if (!URL.canParse(text)) return refused('Enter a valid URL.')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refused('Only http:// and https:// are spoken.')
  if (url.username !== '' || url.password !== '') return refused('It holds a user name or a password.')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const destination = destinationOf(url.hostname, port)
  return destination === null ? refused('Enter a valid URL.') : { kind: 'url', url, destination }
}

/** A host and port, or null for what is neither name nor address. The URL standard decides what a host spells. */
export function destinationOf(host: string, port: number): Destination | null {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  const bracketed = bare.includes(':') ? `[${bare}]` : bare
  if (ambiguous.test(host) || /[/?#@%]/.test(host) || !URL.canParse(`http://${bracketed}/`)) return null
  const canonical = new URL(`http://${bracketed}/`).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')
  if (canonical === '' || canonical.length > hostLengthMax) return null
  const isInternal = privateNames.test(canonical) || !/[.:]/.test(canonical)
  return { host: canonical, port, isInternal }
}

/** True for the ports that strangers may have called on public addresses. */
export function isOpenPort(port: number): boolean {
  return port === 80 || port === 443 || (port >= 1024 && port <= 65_535 && !badPorts.has(port))
}

function refused(reason: string): ReadUrl {
  return { kind: 'refused', reason }
}
