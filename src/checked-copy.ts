// Copies on disk of what Postgres holds, for while it is down: one file, 0600, replaced as a whole. Layout: crc32 of
// the rest in 8 hex digits, newline, the text. A copy that does not match its checksum is not used.

import { existsSync, readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { replaceFile } from './replace-file.ts'
import type { Log } from './telemetry/log.ts'

/** The text of a copy; null when there is none, or it is damaged. */
export function readCopy(file: string, log: Log): string | null {
  if (!existsSync(file)) return null
  const stored = readFileSync(file, 'utf8')
  const text = stored.slice(9)
  if (stored.slice(0, 9) === `${checksum(text)}\n`) return text
  log.warn({ file }, 'a copy of what Postgres holds is damaged and is not used')
  return null
}

/** Replaces a copy. One that cannot be written is logged: the one before stays. */
export function writeCopy(file: string, text: string, log: Log): void {
  try {
    replaceFile(file, `${checksum(text)}\n${text}`)
  } catch (error) {
    log.error({ err: error, file }, 'a copy of what Postgres holds was not written')
  }
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}
