// Destinations of batch exports as they are stored: the config that may be shown, and its secrets sealed.

import type { SealedPlace, Sealer } from '../sealing/sealer.ts'
import { type GivenConfig, mergeConfig, splitConfig } from './destination.ts'
import type { BuiltType } from './destination-keys.ts'

/** Columns of `batch_export`. */
export interface StoredDestination {
  readonly destination_type: BuiltType
  readonly destination_config: GivenConfig
  readonly destination_secrets: string | null
}

/** A destination with its secrets open. */
export interface OpenDestination {
  readonly type: BuiltType
  readonly config: GivenConfig
}

export function sealDestination(
  sealer: Sealer,
  id: string,
  { type, config }: OpenDestination,
): StoredDestination {
  const { shown, secret } = splitConfig(config)
  const hasSecrets = Object.keys(secret).length > 0
  return {
    destination_type: type,
    destination_config: shown,
    destination_secrets: hasSecrets ? sealer.seal(placeOf(id), JSON.stringify(secret)) : null,
  }
}

/** Errors: secret_unreadable. */
export function openDestination(sealer: Sealer, id: string, stored: StoredDestination): OpenDestination {
  const { destination_type, destination_config, destination_secrets } = stored
  const secret: GivenConfig =
    destination_secrets === null ? {} : JSON.parse(sealer.open(placeOf(id), destination_secrets))
  return { type: destination_type, config: mergeConfig(destination_config, secret) }
}

function placeOf(id: string): SealedPlace {
  return { table: 'batch_export', column: 'destination_secrets', id }
}
