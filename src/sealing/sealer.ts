// Credentials at rest: AES-256-GCM, bound to their place.
//
// Layout: "sealed1.<key id>.<base64url of 12 bytes nonce, ciphertext, 16 bytes tag>". The table, row and column are
// associated data: a sealed text that is copied into another row or column does not open. Nonces are random, which is
// safe for 2^32 texts a key (NIST SP 800-38D §8.3).

import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { isServiceError, ServiceError } from '../errors.ts'
import type { Log } from '../telemetry/log.ts'
import type { SecretKey, SecretKeys } from './secret-keys.ts'

/** Where a sealed text is stored. Every column of the list is sealed anew when the key changes. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: 'organization_domain', column: 'saml_x509_cert' },
  { table: 'batch_export', column: 'destination_secrets' },
  { table: 'feature_flag_payload', column: 'payload' },
]

export interface SealedColumn {
  readonly table: string
  readonly column: string
}

export interface SealedPlace extends SealedColumn {
  /** Of the row: its uuid. */
  readonly id: string
}

export interface Sealer {
  /** Seals `text` for `place` with the current key. Errors: secret_unreadable when there is no key any more. */
  seal(place: SealedPlace, text: string): string
  /** Errors: secret_unreadable when the key is missing, or the text was made for another place or altered. */
  open(place: SealedPlace, sealed: string): string
  /** The beginning of everything that the current key has sealed. */
  currentPrefix(): string
}

const version = 'sealed1'
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** What is wrong with the keys is for the log; who asked over the API learns only that it failed. */
export function makeSealer(keys: SecretKeys, log: Log): Sealer {
  const readKeys = (): readonly [SecretKey, ...SecretKey[]] => {
    try {
      return keys.read()
    } catch (cause) {
      log.error({ err: cause }, 'credentials can be neither sealed nor opened')
      throw new ServiceError('secret_unreadable', { cause })
    }
  }
  const open = (place: SealedPlace, sealed: string): string => {
    const [, keyId = ''] = sealed.split('.')
    const key = readKeys().find(({ id }) => id === keyId)
    try {
      return decrypt(place, sealed, key)
    } catch (error) {
      const remedy = 'put its key back among the secret keys, or save the credential again'
      const { table, column, id } = place
      log.error({ err: error, table, column, id, key_id: keyId }, `a credential does not open; ${remedy}`)
      throw error
    }
  }
  return {
    seal: (place, text) => encrypt(place, text, readKeys()[0]),
    open,
    currentPrefix: () => `${version}.${readKeys()[0].id}.`,
  }
}

function encrypt(place: SealedPlace, text: string, key: SecretKey): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key.bytes, nonce)
  cipher.setAAD(bindingOf(place, key.id))
  const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${version}.${key.id}.${bytes.toString('base64url')}`
}

function decrypt(place: SealedPlace, sealed: string, key: SecretKey | undefined): string {
  const [kind, keyId = '', text = ''] = sealed.split('.')
  if (kind !== version) throw unreadable('A stored credential is not sealed as this version seals.')
  if (key === undefined)
    throw unreadable(`A stored credential needs the secret key ${keyId}, which is missing.`)
  const bytes = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv(algorithm, key.bytes, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(bindingOf(place, key.id))
    decipher.setAuthTag(bytes.subarray(-tagBytes))
    const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes))
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch (cause) {
    throw unreadable('A stored credential was altered, or belongs to another row.', cause)
  }
}

function bindingOf({ table, id, column }: SealedPlace, keyId: string): Buffer {
  return Buffer.from(JSON.stringify([version, keyId, table, id, column]))
}

function unreadable(detail: string, cause?: unknown): ServiceError {
  return new ServiceError('secret_unreadable', isServiceError(cause) ? { detail } : { detail, cause })
}
