// Addresses of people. One mailbox is one account, however it is written: a domain has one form, of lower case ASCII
// (RFC 5891); what stands before the @ is letters, digits and marks of ASCII, so that no two of them become equal in
// another alphabet's lower case (Kelvin sign, dotted İ).

import { domainToASCII } from 'node:url'

const lengthMax = 254
const localPart = /^(?=.{1,64}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/
/** Letters, marks and digits: the rest means something to the reader of a URL, or nothing. */
const anyDomain = /^[\p{L}\p{M}\p{N}.-]+$/u
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/** The last label is no number: that would be an address of IPv4. */
const domainName = new RegExp(`^(?:${label}\\.)+(?=[a-z])${label}$`)

/**
 * The address in its one form, the case of what stands before the @ as it is; null for what is none. Quoted ones and
 * those with comments are none. `localhost` has an owner too (the first start makes one).
 */
export function parseEmail(text: string): string | null {
  const at = text.lastIndexOf('@')
  const [local, given] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)]
  if (at < 0 || !localPart.test(local) || !anyDomain.test(given)) return null
  // Written in ASCII it is not looked at as a URL's host, which would read 0x7f.1 as an address.
  const domain = /^[\0-\x7f]*$/.test(given) ? given.toLowerCase() : domainToASCII(given)
  const email = `${local}@${domain}`
  return email.length <= lengthMax && (domain === 'localhost' || domainName.test(domain)) ? email : null
}
