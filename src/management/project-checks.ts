// What a schema cannot say about the fields of a project: time zones, decimal numbers, shapes of nested settings. The
// first fault is answered, in the order of the fields.

import { levels } from '../api/access.ts'
import { ServiceError } from '../errors.ts'
import { guardedFields, type ProjectInput } from './project-fields.ts'
import type { ProjectRow } from './project-rows.ts'

/** Merged into what is stored, not put in its place. */
const mergedFields = ['survey_config', 'session_replay_config'] as const

/**
 * Checks `input` and returns it as it is stored.
 * Errors: invalid_choice, invalid_input, max_value, min_value.
 */
export function checkProject(input: ProjectInput): ProjectInput {
  const { timezone, app_urls, recording_domains, session_recording_sample_rate: rate } = input
  const checked: { -readonly [K in keyof ProjectInput]: ProjectInput[K] } = { ...input }
  if (app_urls !== undefined) checked.app_urls = app_urls.filter(isFilled)
  if (timezone !== undefined && !isTimeZone(timezone)) {
    const detail = `"${timezone.slice(0, 100)}" is not a valid choice.`
    throw new ServiceError('invalid_choice', { detail, attr: 'timezone' })
  }
  if (typeof rate === 'string') checked.session_recording_sample_rate = readRate(rate)
  checkLinkedFlag(input.session_recording_linked_flag)
  checkKeys('session_recording_network_payload_capture_config', input, ['recordHeaders', 'recordBody'])
  checkKeys('session_replay_config', input, ['record_canvas', 'ai_config'])
  if (Array.isArray(recording_domains)) checked.recording_domains = recording_domains.filter(isFilled)
  return checked
}

/** Errors: permission_denied when a member changes what is not a member's to change. Sent as it is, it is no change. */
export function checkGuarded(stored: ProjectRow, input: ProjectInput): void {
  if (stored.effective_membership_level >= levels.administrator) return
  const isChanged = guardedFields.some(
    (field) => input[field] !== undefined && input[field] !== stored[field],
  )
  const detail = 'Your project access level is insufficient.'
  if (isChanged) throw new ServiceError('permission_denied', { detail })
}

/** `input` with the settings that are merged key by key put over those of `stored`. */
export function mergeSettings(stored: object, input: ProjectInput): ProjectInput {
  const merged = mergedFields.flatMap((field) => {
    const [old, sent] = [objectOf(Reflect.get(stored, field)), objectOf(input[field])]
    if (old === null || sent === null) return []
    return [[field, field === 'survey_config' ? { ...old, ...sent } : mergeOneDeeper(old, sent)]]
  })
  return { ...input, ...Object.fromEntries(merged) }
}

type JsonObject = Readonly<Record<string, unknown>>

function mergeOneDeeper(old: JsonObject, sent: JsonObject): JsonObject {
  const both = Object.entries(sent).map(([name, value]) => {
    const [before, now] = [Object.hasOwn(old, name) ? objectOf(old[name]) : null, objectOf(value)]
    return [name, before === null || now === null ? value : { ...before, ...now }]
  })
  return { ...old, ...Object.fromEntries(both) }
}

/** A name of the tz database as it is written there, old names included. */
export function isTimeZone(name: string): boolean {
  // Intl also takes offsets and any case.
  if (!/^[A-Z]/.test(name)) return false
  try {
    const canonical = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    return canonical === name || canonical.toLowerCase() !== name.toLowerCase()
  } catch {
    return false // Intl throws for what it does not know
  }
}

function readRate(text: string): string {
  const attr = 'session_recording_sample_rate'
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/.test(text)) {
    throw new ServiceError('invalid_input', { detail: 'A valid number is required.', attr })
  }
  const rate = Number(text)
  const [detailMax, detailMin] = ['less than or equal to 1', 'greater than or equal to 0']
  if (rate > 1) throw new ServiceError('max_value', { detail: `Ensure this value is ${detailMax}.`, attr })
  if (rate < 0) throw new ServiceError('min_value', { detail: `Ensure this value is ${detailMin}.`, attr })
  if (/\.\d{2}\d*[1-9]/.test(text)) {
    const detail = 'Ensure that there are no more than 2 decimal places.'
    throw new ServiceError('invalid_input', { detail, attr })
  }
  return rate.toFixed(2)
}

function checkLinkedFlag(value: unknown): void {
  if (value === undefined || value === null) return
  const keys = Object.keys(objectOf(value) ?? {})
  const isExact = ['id', 'key'].every((key) => keys.includes(key))
  if (isExact && keys.every((key) => ['id', 'key', 'variant'].includes(key))) return
  const detail =
    "Must provide a dictionary with only 'id' and 'key' keys. _or_ only 'id', 'key', and 'variant' keys."
  throw new ServiceError('invalid_input', { detail, attr: 'session_recording_linked_flag' })
}

function checkKeys(
  attr: 'session_recording_network_payload_capture_config' | 'session_replay_config',
  input: ProjectInput,
  allowed: readonly string[],
): void {
  const value = input[attr]
  if (value === undefined || value === null) return
  const object = objectOf(value)
  if (object === null) {
    throw new ServiceError('invalid_input', { detail: 'Must provide a dictionary or None.', attr })
  }
  if (Object.keys(object).every((key) => allowed.includes(key))) return
  const detail = `Must provide a dictionary with only allowed keys: ${allowed.join(', ')}.`
  throw new ServiceError('invalid_input', { detail, attr })
}

function objectOf(value: unknown): JsonObject | null {
  // Neither null nor an array, so its members are named.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

function isFilled(entry: string | null): boolean {
  return entry !== null && entry !== ''
}
