// A destination's config: read, merged with what is stored, and shown without its secrets. Pure.

import { ServiceError } from '../errors.ts'
import {
  type BuiltType,
  builtTypes,
  type DestinationType,
  isBuilt,
  isSecretKey,
  type KeyRule,
  keyRules,
} from './destination-keys.ts'

/** As a caller sends it: JSON, keys nobody knows included. */
export type GivenConfig = Readonly<Record<string, unknown>>

/** Exactly the keys of the type, each with a value of its kind or null. */
export type DestinationConfig = Readonly<Record<string, unknown>>

/** How each file format may be compressed; null, which is as it is, always may. */
const compressions: Readonly<Record<string, readonly string[]>> = {
  Parquet: ['zstd', 'lz4', 'snappy', 'gzip', 'brotli'],
  JSONLines: ['gzip', 'brotli'],
}

const textLengthMax = 4096
const textsMax = 1000
const portMax = 65_535
const countMax = 1_000_000

/** Errors: invalid_input for a type that PostHog has and that is not built here. */
export function requireBuilt(type: DestinationType): BuiltType {
  if (isBuilt(type)) return type
  throw fault(`Destination type ${type} is not supported. Supported types are: ${builtTypes.join(', ')}.`)
}

/**
 * Reads a whole config, with defaults for what is left out.
 * Errors: invalid_input, whose text names the key and never its value.
 */
export function readConfig(type: BuiltType, given: GivenConfig): DestinationConfig {
  const known = Object.entries(keyRules(type))
  const missing = known.filter(([key, rule]) => rule.isRequired && filledIn(given, key) === null)
  if (missing.length > 0) {
    throw fault(`Configuration missing required inputs: ${missing.map(([key]) => key).join(', ')}.`)
  }
  const config = Object.fromEntries(known.map(([key, rule]) => [key, readKey(given, key, rule)]))
  if (type === 'S3') checkFileFormat(config)
  return config
}

/** What is stored once `changes` have come over `stored`: a key that was not sent stays, a secret above all. */
export function mergeConfig(stored: GivenConfig, changes: GivenConfig): GivenConfig {
  return { ...stored, ...changes }
}

/** A config in two halves: what answers show, as it was sent, and what is sealed. */
export function splitConfig(config: GivenConfig): {
  readonly shown: GivenConfig
  readonly secret: GivenConfig
} {
  const entries = Object.entries(config)
  return {
    shown: Object.fromEntries(entries.filter(([key]) => !isSecretKey(key))),
    secret: Object.fromEntries(entries.filter(([key]) => isSecretKey(key))),
  }
}

function readKey(given: GivenConfig, key: string, rule: KeyRule): unknown {
  const value = filledIn(given, key)
  if (value === null) return rule.default
  switch (rule.kind) {
    case 'text':
      return readText(key, value, rule)
    case 'flag':
      return readFlag(key, value)
    case 'port':
      return readCount(key, value, portMax)
    case 'count':
      return readCount(key, value, countMax)
    case 'texts':
      return readTexts(key, value)
    case 'object':
      if (typeof value === 'object' && !Array.isArray(value)) return value
      throw fault(`Configuration has invalid type: '${key}' must be an object.`)
  }
}

/** Text that is blank counts as left out: forms send it for fields nobody filled in. S3's prefix may be empty. */
function filledIn(given: GivenConfig, key: string): unknown {
  const value = Object.hasOwn(given, key) ? (given[key] ?? null) : null
  const isBlank = typeof value === 'string' && value.trim() === '' && key !== 'prefix' && key !== 'arg'
  return isBlank ? null : value
}

function readText(key: string, value: unknown, { choices }: KeyRule): string {
  if (typeof value !== 'string' || value.length > textLengthMax || value.includes('\0')) {
    throw fault(
      `Configuration has invalid type: '${key}' must be text of at most ${textLengthMax} characters.`,
    )
  }
  if (choices !== null && !choices.includes(value)) {
    throw fault(`Configuration has invalid value: '${key}' must be one of ${choices.join(', ')}.`)
  }
  return value
}

function readFlag(key: string, value: unknown): boolean {
  const text = String(value).toLowerCase()
  if (text === 'true' || text === 'false') return text === 'true'
  throw fault(`Configuration has invalid type: '${key}' must be true or false.`)
}

function readCount(key: string, value: unknown, max: number): number {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  if (typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= max) return number
  throw fault(`Configuration has invalid type: '${key}' must be an integer from 1 to ${max}.`)
}

function readTexts(key: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length <= textsMax && value.every(isShortText)) return value
  throw fault(`Configuration has invalid type: '${key}' must be a list of at most ${textsMax} texts.`)
}

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textLengthMax && !value.includes('\0')
}

function checkFileFormat({ file_format, compression }: DestinationConfig): void {
  const formats = Object.keys(compressions)
  const format = String(file_format)
  const allowed = Object.hasOwn(compressions, format) ? compressions[format] : undefined
  if (allowed === undefined) {
    const supported = JSON.stringify(formats).replaceAll('"', "'").replaceAll(',', ', ')
    throw fault(`File format ${format} is not supported. Supported file formats are ${supported}`)
  }
  if (compression !== null && !allowed.includes(String(compression))) {
    const supported = JSON.stringify(allowed).replaceAll('"', "'").replaceAll(',', ', ')
    throw fault(
      `Compression ${compression} is not supported for file format ${format}. Supported compressions are ${supported}`,
    )
  }
}

function fault(detail: string): ServiceError {
  return new ServiceError('invalid_input', { detail, attr: 'destination' })
}
