// Addresses of hosts: from a socket as text, and as what is counted as one sender.

import { isIP } from 'node:net'

/** Prints 4 or 16 network-order bytes: IPv4, also when mapped into IPv6, dotted; IPv6 in its short form. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return `${bytes[0]}.${bytes[1]}.${bytes[2]}.${bytes[3]}`
  if (bytes.length !== 16) return ''
  if (isMapped(bytes)) return `${bytes[12]}.${bytes[13]}.${bytes[14]}.${bytes[15]}`
  const groups: string[] = []
  for (let index = 0; index < 16; index += 2) {
    groups.push((bytes[index]! * 256 + bytes[index + 1]!).toString(16))
  }
  const text = groups.join(':')
  // RFC 5952: the first of the longest runs of two or more zero groups becomes `::`.
  let start = 0
  let length = 0
  for (const run of text.matchAll(/\b0(?::0)+\b/g)) {
    if (run[0].length > length) {
      start = run.index
      length = run[0].length
    }
  }
  return length === 0 ? text : `${text.slice(0, start).slice(0, -1)}::${text.slice(start + length + 1)}`
}

/**
 * What limits count as one sender: an IPv4 address, also when mapped into IPv6, is one; an IPv6 host has a network of
 * 64 bits to itself, and may come from another address of it each time. Text that is no address stands for itself.
 */
export function senderOf(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (dotted !== undefined || isIP(address) !== 6) return dotted ?? address
  const [head = '', tail] = address.split('::')
  const first = groupsOf(head)
  const missing = tail === undefined ? 0 : 8 - first.length - groupsOf(tail).length
  const groups = [...first, ...Array<string>(missing).fill('0'), ...groupsOf(tail ?? '')]
  const network = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${network.join(':')}::/64`
}

/** The groups of 16 bits in a part of an IPv6 address; a dotted end takes two. */
function groupsOf(part: string): string[] {
  return part.split(':').flatMap((group) => (group === '' ? [] : group.includes('.') ? ['0', '0'] : [group]))
}

function isMapped(bytes: Uint8Array): boolean {
  for (let index = 0; index < 10; index++) if (bytes[index] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
}
