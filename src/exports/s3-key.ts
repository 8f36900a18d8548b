// The names of an export's objects in a bucket, as PostHog builds them: the prefix with its variables filled in, then
// `<start>-<end>.jsonl.gz`, moments in ISO 8601; the second and later files of an interval carry their number. Pure.

import { DeliveryError, type RunSubject } from './delivery.ts'
import type { DestinationConfig } from './destination.ts'

/** S3's limit, in UTF-8. */
const keyBytesMax = 1024

const extensions: Readonly<Record<string, string>> = { Parquet: 'parquet', JSONLines: 'jsonl' }
const compressionExtensions: Readonly<Record<string, string>> = {
  zstd: 'zst',
  lz4: 'lz4',
  snappy: 'sz',
  gzip: 'gz',
  brotli: 'br',
}

/**
 * The key of a run's file with this number.
 * Errors: DeliveryError, permanent, for a prefix that cannot be filled in or makes no key.
 */
export function objectKey(config: DestinationConfig, run: RunSubject, fileIndex: number): string {
  const number = fileIndex === 0 ? '' : `-${fileIndex}`
  const compression =
    config.compression === null ? '' : `.${compressionExtensions[String(config.compression)]}`
  return keyOf(
    config,
    run,
    `${intervalText(run)}${number}.${extensions[String(config.file_format)]}${compression}`,
  )
}

/** The key of the list of a run's files. Errors as objectKey. */
export function manifestKey(config: DestinationConfig, run: RunSubject): string {
  return keyOf(config, run, `${intervalText(run)}_manifest.json`)
}

function keyOf(config: DestinationConfig, run: RunSubject, name: string): string {
  const prefix = filled(String(config.prefix), run)
  const key = `${prefix}${prefix === '' || prefix.endsWith('/') ? '' : '/'}${name}`.replace(/^\/+/, '')
  // Servers that keep objects as files would leave the bucket.
  if (key.split('/').some((part) => part === '.' || part === '..')) {
    throw fault(
      'The prefix holds "." or ".." between slashes, which names no place in a bucket. Change the prefix.',
    )
  }
  if (Buffer.byteLength(key) > keyBytesMax) {
    throw fault(
      `The prefix is too long: with the file's name it has more than ${keyBytesMax} bytes. Shorten it.`,
    )
  }
  return key
}

/** The template with its variables; doubled braces stand for themselves, as in Python's format. */
function filled(template: string, run: RunSubject): string {
  const variables = variablesOf(run)
  return template.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (match, name: string | undefined) => {
    if (match === '{{' || match === '}}') return match[0]!
    const value = name === undefined ? undefined : variables.get(name)
    if (value !== undefined) return value
    const known = [...variables.keys()].map((variable) => `{${variable}}`).join(', ')
    throw fault(`The prefix holds ${JSON.stringify(match)}, which is none of ${known}. Change the prefix.`)
  })
}

/** PostHog takes the parts of the date from the interval's end. */
function variablesOf(run: RunSubject): ReadonlyMap<string, string> {
  const end = isoText(run.endMs)
  return new Map([
    ['year', end.slice(0, 4)],
    ['month', end.slice(5, 7)],
    ['day', end.slice(8, 10)],
    ['hour', end.slice(11, 13)],
    ['minute', end.slice(14, 16)],
    ['second', end.slice(17, 19)],
    ['data_interval_start', startText(run)],
    ['data_interval_end', end],
    ['table', run.model],
  ])
}

function intervalText(run: RunSubject): string {
  return `${startText(run)}-${isoText(run.endMs)}`
}

/** PostHog writes "None" for a backfill from the beginning. */
function startText({ startMs }: RunSubject): string {
  return startMs === null ? 'None' : isoText(startMs)
}

/** As Python prints a moment in UTC; intervals begin and end with a second. */
function isoText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}+00:00`
}

function fault(sentence: string): DeliveryError {
  return new DeliveryError('permanent', sentence)
}
