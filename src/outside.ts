// What management has besides its database: calls to other people's addresses, mail, keys of stored credentials.

import type { Config } from './config.ts'
import { type Mailer, openMailer, transportOf } from './mail/mailer.ts'
import { type Outbound, openOutbound } from './outbound/outbound.ts'
import { makeSealer, type Sealer } from './sealing/sealer.ts'
import { openSecretKeys } from './sealing/secret-keys.ts'
import type { Log } from './telemetry/log.ts'

export interface Outside {
  readonly outbound: Outbound
  readonly mailer: Mailer
  readonly sealer: Sealer
  /** What tokens are signed with. */
  readonly secret: Uint8Array
  close(): Promise<void>
}

/** Calls nobody yet; makes the secret key on the first start. Errors: config_invalid. */
export function openOutside(config: Config, log: Log): Outside {
  const { outboundAllow: allow, dnsServers } = config
  const outbound = openOutbound({ allow, dnsServers })
  const mailer = openMailer({ transport: transportOf(config), log })
  const keys = openSecretKeys(config)
  const sealer = makeSealer(keys, log)
  const close = async (): Promise<void> => {
    outbound.close()
    await mailer.close()
  }
  return { outbound, mailer, sealer, secret: keys.read()[0].bytes, close }
}
