// The keys that credentials are sealed with. They live outside the database, so that neither a copy of it nor a hole in
// a query gives a credential away: in SECRET_KEY_FILE, in SECRET_KEY, else in DATA_DIR/secret.key, which the first
// start makes.
//
// A file holds a key a line, SECRET_KEY several with commas between: 64 hexadecimal digits, or 32 bytes in base64. The
// first seals; the others open what was sealed before them. Files are read again at each use, which is rare (a saved
// credential, the start of an export), so that a new first line counts at once.

import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { replaceFile } from '../replace-file.ts'

export interface SecretKey {
  /** Says which key it is without giving it away: 8 hexadecimal digits of a hash. */
  readonly id: string
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

export interface SecretKeys {
  /** All keys, the one that seals first. Errors: config_invalid when they cannot be read any more. */
  read(): readonly [SecretKey, ...SecretKey[]]
  /** Puts a fresh key in front. Errors: config_invalid when the operator keeps the keys and not DATA_DIR. */
  addKey(): SecretKey
}

type KeyConfig = Pick<Config, 'dataDir' | 'secretKeyFile' | 'secretKey'>

const fileName = 'secret.key'
const keyBytes = 32
const expected =
  `${keyBytes * 2} hexadecimal digits or ${keyBytes} bytes in base64, ` +
  'as `openssl rand -hex 32` prints them'

/**
 * Opens the keys, and makes the first one when the operator has named none.
 * Errors: config_invalid for keys that cannot be read, naming where they are and never what they are.
 */
export function openSecretKeys(config: KeyConfig): SecretKeys {
  const { secretKeyFile, secretKey } = config
  if (secretKeyFile === null && secretKey !== null) {
    const keys = parseKeys(secretKey.split(','), 'SECRET_KEY')
    return { read: () => keys, addKey: () => refuse('SECRET_KEY') }
  }
  const ownFile = join(config.dataDir, fileName)
  const file = secretKeyFile ?? ownFile
  const read = (): ReturnType<SecretKeys['read']> => parseKeys(readKeyFile(file).split('\n'), file)
  const addKey = (): SecretKey => {
    if (file !== ownFile) refuse('SECRET_KEY_FILE')
    const key = randomBytes(keyBytes).toString('hex')
    replaceFile(file, `${key}\n${existsSync(file) ? readKeyFile(file) : ''}`)
    return read()[0]
  }
  if (file === ownFile && !existsSync(file)) addKey()
  read()
  return { read, addKey }
}

function parseKeys(lines: readonly string[], source: string): readonly [SecretKey, ...SecretKey[]] {
  const texts = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  const [first, ...rest] = texts.map((text, index) => parseKey(text, source, index + 1))
  if (first === undefined) bad(`${source} holds no key, expected ${expected}`)
  return [first, ...rest]
}

function parseKey(text: string, source: string, place: number): SecretKey {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64')
  const isKey = bytes.length === keyBytes && /^(?:[0-9a-f]{64}|[\w+/-]{43}=?)$/i.test(text)
  if (!isKey) bad(`${source} holds as key ${place} text of ${text.length} characters, expected ${expected}`)
  const id = createHash('sha256').update('spate secret key id\0').update(bytes).digest('hex').slice(0, 8)
  return { id, bytes }
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException // node's fs only throws errors of this shape
    bad(`the secret keys in ${file} cannot be read (${code}); restore the file from a backup`, cause)
  }
}

function refuse(setting: string): never {
  bad(`the secret keys come from ${setting}: put a new key there in front of the others, then run this again`)
}

function bad(detail: string, cause?: unknown): never {
  throw new ServiceError('config_invalid', { detail, cause })
}
