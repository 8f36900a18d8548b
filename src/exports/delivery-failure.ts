// What went wrong at a destination, without what a library knows about it: errors of the AWS SDK and of node-postgres
// carry requests, credentials and rows, and whoever logs a cause prints all of it.

import { isServiceError } from '../errors.ts'
import { DeliveryError } from './delivery.ts'

/** Codes of sockets and of TLS that mean: the other side is not there, or no longer. */
const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'ERR_STREAM_PREMATURE_CLOSE',
])

/** What is wrong with a certificate, and what helps. */
interface CertificateFault {
  readonly fault: string
  readonly remedy: string
}

const unknownAuthority: CertificateFault = {
  fault: 'no authority known here has signed',
  remedy: 'Who runs Spate can make one known in NODE_EXTRA_CA_CERTS.',
}

const certificateFaults: Readonly<Record<string, CertificateFault>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  CERT_UNTRUSTED: unknownAuthority,
  CERT_HAS_EXPIRED: { fault: 'has expired', remedy: 'Renew it there.' },
  CERT_NOT_YET_VALID: { fault: 'is not valid yet', remedy: 'Look at the clocks of both machines.' },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    fault: 'names another host',
    remedy: 'Change the host to one that it names, or the certificate.',
  },
}

export function temporary(sentence: string, error: unknown): DeliveryError {
  return new DeliveryError('temporary', sentence, bare(error))
}

export function permanent(sentence: string, error: unknown): DeliveryError {
  return new DeliveryError('permanent', sentence, bare(error))
}

/**
 * The failure of a connection, whatever is spoken over it: an address that may not be called, a name without address,
 * a network, a certificate. Null when `error` is something else. `what` names the other side: "The S3 endpoint".
 */
export function connectionFailure(what: string, error: unknown, untrustedHint = ''): DeliveryError | null {
  if (isServiceError(error, 'address_refused')) {
    return permanent(`${what} may not be called: ${error.detail}`, error)
  }
  if (isServiceError(error, 'address_unknown'))
    return temporary(`${what} was not found: ${error.detail}`, error)
  const code = codeOf(error)
  if (code === null) return null
  if (code === 'ETIMEDOUT') return temporary(`${what} did not answer in time.`, error)
  if (networkCodes.has(code)) return temporary(`${what} could not be reached (${code}).`, error)
  const found = certificateFaults[code]
  if (found !== undefined) {
    const hint = found === unknownAuthority ? untrustedHint : ''
    const sentence = `${what} shows a certificate that ${found.fault} (${code}). ${found.remedy}${hint}`
    return permanent(sentence, error)
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL')) {
    return permanent(`${what} does not speak TLS as expected.`, error)
  }
  return null
}

/** The `code` of an error, when it is one of a library's names and not a text that somebody else could have written. */
export function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null
  return typeof error.code === 'string' && /^[A-Z0-9_]{2,60}$/.test(error.code) ? error.code : null
}

/**
 * Runs a step of a delivery; what goes wrong in it leaves as DeliveryError, by `failureOf` where it is not one already,
 * or as the reason of `signal` once that is aborted.
 */
export async function failingWith<T>(
  failureOf: (error: unknown) => DeliveryError,
  signal: AbortSignal,
  step: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted()
    return await step()
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw error instanceof DeliveryError ? error : failureOf(error)
  }
}

/** Which error it was, and nothing that it says. */
function bare(error: unknown): Error {
  const name = error instanceof Error && /^\w{1,60}$/.test(error.name) ? error.name : 'Error'
  const code = codeOf(error)
  return new Error(code === null ? name : `${name} ${code}`)
}
