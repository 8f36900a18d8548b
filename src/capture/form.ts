// Bodies sent as application/x-www-form-urlencoded: `data=<payload>&compression=…`. Works on bytes, because the
// payload may be 20 MB long.

import type { Bytes } from '../lib/bytes.ts'
import { restorePluses } from './base64.ts'

export interface CaptureForm {
  /** Decoded; null when there is no such field. */
  readonly data: Bytes | null
  /** '' when there is no such field. */
  readonly compression: string
}

const ampersand = 0x26
const percent = 0x25
const plus = 0x2b
const space = 0x20

/** How many bytes at the start decide whether a body looks like a form. */
const sniffedBytes = 128
const dataName = new Uint8Array(Buffer.from('data='))
const compressionName = new Uint8Array(Buffer.from('compression='))
const formFields = /(?:^|&)(?:data|_|ip|compression)=/

/** True when the media type is a form's, whatever its parameters. */
export function isFormType(contentType: string): boolean {
  if (contentType === 'application/json') return false // as nearly all are, and is told for nothing
  const mediaType = contentType.split(';', 1)[0] ?? ''
  return mediaType.trim().toLowerCase() === 'application/x-www-form-urlencoded'
}

/** True when `body` begins like a form. */
export function looksLikeForm(body: Bytes): boolean {
  return formFields.test(asciiText(body.subarray(0, sniffedBytes)))
}

/** Reads the fields that matter. Of a repeated field the first counts. */
export function parseForm(body: Bytes): CaptureForm {
  let data: Bytes | null = null
  let compression = ''
  // A body of nothing but separators has millions of fields: no view is made of one that does not matter.
  for (let start = 0; start < body.length; ) {
    const found = body.indexOf(ampersand, start)
    const end = found < 0 ? body.length : found
    if (data === null && isNamed(dataName, body, start)) {
      data = decodeFormData(body.subarray(start + dataName.length, end))
    } else if (compression === '' && isNamed(compressionName, body, start)) {
      compression = asciiText(decodeFormText(body.subarray(start + compressionName.length, end)))
    }
    start = end + 1
  }
  return { data, compression }
}

/** True when `name`, which ends in `=`, stands at `at`. */
function isNamed(name: Uint8Array, body: Bytes, at: number): boolean {
  for (let index = 0; index < name.length; index++) if (body[at + index] !== name[index]) return false
  return true
}

/** Decodes a payload that came in a form field or a query parameter. */
export function decodeFormData(value: Bytes): Bytes {
  return restorePluses(decodeFormText(value))
}

/** Decodes `%XX` and `+`. A `%` without two hex digits stands for itself. */
function decodeFormText(value: Bytes): Bytes {
  if (!value.includes(percent) && !value.includes(plus)) return value
  const decoded = new Uint8Array(value.length)
  let size = 0
  for (let at = 0; at < value.length; at++) {
    let byte = value[at]!
    if (byte === plus) byte = space
    else if (byte === percent && at + 2 < value.length) {
      const high = hexDigit(value[at + 1]!)
      const low = hexDigit(value[at + 2]!)
      if (high >= 0 && low >= 0) {
        byte = high * 16 + low
        at += 2
      }
    }
    decoded[size++] = byte
  }
  return decoded.subarray(0, size)
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

function asciiText(bytes: Bytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}
