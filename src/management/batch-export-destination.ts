// Destinations of batch exports as callers send them: checked, addresses judged.

import { ServiceError } from '../errors.ts'
import {
  type GivenConfig,
  mergeConfig,
  readConfig,
  requireBuilt,
  splitConfig,
} from '../exports/destination.ts'
import type { DestinationType } from '../exports/destination-keys.ts'
import type { OpenDestination } from '../exports/stored-destination.ts'
import type { Outbound } from '../outbound/outbound.ts'

export interface GivenDestination {
  readonly type?: DestinationType
  readonly config?: GivenConfig | null
}

const attr = 'destination'

/**
 * What a destination becomes once `given` has come over `before`. Of another type nothing is kept: its keys, and its
 * secrets above all, were meant for somebody else.
 * Errors: invalid_input.
 */
export function changedDestination(before: OpenDestination | null, given: GivenDestination): OpenDestination {
  const type = requireBuilt(given.type ?? before?.type ?? 'NoOp')
  const kept = before !== null && before.type === type ? before.config : {}
  const sent = given.config ?? {}
  const config = mergeConfig(kept, sent)
  readConfig(type, config)
  if (before !== null && before.type === type) checkSecretsStay(before, { type, config }, sent)
  return { type, config }
}

/**
 * Whoever may change an export must not be able to have its secrets sent to a server of their own: they were shown to
 * nobody since they were stored. Another path on the same server is the same address.
 * Errors: invalid_input naming the secrets that have to be sent anew, or given up by null.
 */
function checkSecretsStay(before: OpenDestination, after: OpenDestination, sent: GivenConfig): void {
  if (hasSameAddress(before, after)) return
  const { secret } = splitConfig(before.config)
  const kept = Object.keys(secret).filter((key) => secret[key] !== null && !Object.hasOwn(sent, key))
  if (kept.length === 0) return
  const detail =
    'The address has changed, and stored secrets stay where they were meant to go: ' +
    `send ${kept.join(', ')} again.`
  throw new ServiceError('invalid_input', { detail, attr })
}

/** True when both are the same place to connect to. */
export function hasSameAddress(one: OpenDestination, other: OpenDestination): boolean {
  return addressOf(one) === addressOf(other)
}

function addressOf({ type, config }: OpenDestination): string {
  const { url, endpoint_url, host, port } = readConfig(type, config)
  const origins = [url, endpoint_url].map((text) =>
    typeof text === 'string' && URL.canParse(text) ? new URL(text).origin : text,
  )
  return JSON.stringify([...origins, String(host).toLowerCase(), port])
}

/** Judges the addresses of a destination before it is saved. Errors: address_refused. */
export async function checkAddresses(
  outbound: Pick<Outbound, 'checkUrl' | 'checkHost'>,
  { type, config }: OpenDestination,
): Promise<void> {
  const { url, endpoint_url, host, port } = readConfig(type, config)
  if (typeof url === 'string') await outbound.checkUrl(url, attr)
  if (typeof endpoint_url === 'string') await outbound.checkUrl(endpoint_url, attr)
  if (typeof host === 'string') await outbound.checkHost(host, Number(port), attr)
}
