// The plain version of decoding: JSON.parse, objects, and the rules one by one. It is the oracle of the fast version
// and shares nothing with it but what reads one value (keys, timestamps, UUIDs). Slow and obvious on purpose.

import { checkApiKey } from '../../src/capture/api-key.ts'
import type { CaptureTask, DropReason, WarningReason } from '../../src/capture/capture-task.ts'
import { eventTimestamp } from '../../src/capture/event-timestamp.ts'
import { findProject } from '../../src/capture/projects.ts'
import { parseSentAt, parseTimestamp } from '../../src/capture/timestamp.ts'
import { findPlace } from '../../src/geoip/database.ts'
import { placeNames } from '../../src/geoip/place.ts'
import { formatUuid, parseUuidText, writeBornId } from '../../src/lib/uuid.ts'
import { mappedNames } from './mapped-names.ts'
import { plainChain } from './plain-chain.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [key: string]: Json }

export interface PlainRow {
  event: string
  distinctId: string
  /** null when the server made it. */
  uuid: string | null
  bornId: string
  micros: number
  flags: string[]
  properties: JsonObject
  person: JsonObject | null
  elementsChain: string
}

export type PlainOutcome =
  | {
      kind: 'captured'
      historical: boolean
      rows: PlainRow[]
      drops: Record<string, number>
      warnings: Record<string, number>
    }
  | { kind: 'refused'; code: string }
  | { kind: 'unknown_key'; apiKey: string }

interface Request {
  task: CaptureTask
  projectId: number
  anonymizeIps: boolean
  sentAtMs: number | null
  historical: boolean
  warn: (reason: WarningReason) => void
}

const identityEvents = ['$identify', '$create_alias', '$merge_dangerously', '$groupidentify']

/** Decodes a request whose body is plain JSON. */
export function plainDecode(task: CaptureTask): PlainOutcome {
  const raw = Buffer.from(task.body).toString('utf8')
  let sent: Json
  try {
    sent = JSON.parse(raw)
  } catch {
    return { kind: 'refused', code: 'payload_unparseable' }
  }
  const body: Json = JSON.parse(storable(raw))
  if (Array.isArray(body) && Array.isArray(sent)) return plainArray(task, body, sent)
  if (!isObject(body) || !isObject(sent)) return { kind: 'refused', code: 'payload_unparseable' }
  if (Array.isArray(body.batch)) return plainBatch(task, body, sent)
  if (has(body, 'batch') && !has(body, 'event')) return { kind: 'refused', code: 'payload_unparseable' }
  return plainSingle(task, body, sent)
}

/** The text with every escape that no store can hold replaced. */
function storable(text: string): string {
  const escapes = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u0000|\\u[dD][89a-fA-F]..|\\./g
  return text.replace(escapes, (found) =>
    found === '\\u0000' || /^\\u[dD][89a-fA-F]..$/.test(found) ? '\\ufffd' : found,
  )
}

function plainArray(task: CaptureTask, body: Json[], sent: Json[]): PlainOutcome {
  if (body.length === 0) return { kind: 'refused', code: 'payload_empty' }
  const keys = new Set<string>()
  sent.forEach((event, index) => {
    const key = isObject(event) ? (keyOf(event) ?? tokenProperty(body[index])) : null
    if (key !== null) keys.add(key)
  })
  if (keys.size > 1) return { kind: 'refused', code: 'api_key_inconsistent' }
  return plainEvents(task, body, [...keys][0] ?? null, false, null, 'array')
}

function plainBatch(task: CaptureTask, body: JsonObject, sent: JsonObject): PlainOutcome {
  const historical = body.historical_migration ?? false
  if (typeof historical !== 'boolean') return { kind: 'refused', code: 'payload_unparseable' }
  const events = body.batch as Json[] // the caller saw an array
  if (events.length === 0) return { kind: 'refused', code: 'payload_empty' }
  return plainEvents(task, events, keyOf(sent), historical, body.sent_at ?? null, 'batch')
}

function plainSingle(task: CaptureTask, body: JsonObject, sent: JsonObject): PlainOutcome {
  return plainEvents(task, [body], keyOf(sent) ?? tokenProperty(body), false, null, 'single')
}

function plainEvents(
  task: CaptureTask,
  events: Json[],
  sentKey: string | null,
  historical: boolean,
  sentAt: Json,
  shape: 'array' | 'batch' | 'single',
): PlainOutcome {
  if (sentKey === null) return { kind: 'refused', code: 'api_key_missing' }
  const key = checkApiKey(sentKey)
  if (key.kind === 'refused') return { kind: 'refused', code: 'api_key_invalid' }
  const project = findProject(task.projects, key.apiKey)
  if (project === null) return { kind: 'unknown_key', apiKey: key.apiKey }
  const warnings: Record<string, number> = {}
  const drops: Record<string, number> = {}
  if (project.overQuota && !historical) {
    return { kind: 'captured', historical, rows: [], drops: { over_quota: events.length }, warnings }
  }
  const request: Request = {
    task,
    projectId: project.id,
    anonymizeIps: project.anonymizeIps,
    sentAtMs: typeof sentAt === 'string' ? parseSentAt(sentAt) : null,
    historical,
    warn: (reason) => {
      warnings[reason] = (warnings[reason] ?? 0) + 1
    },
  }
  const rows: PlainRow[] = []
  for (const event of events) {
    const result = plainEvent(event, request, shape === 'single' && task.path === '/engage')
    if (typeof result === 'object') rows.push(result)
    else if (result !== 'warned') drops[result] = (drops[result] ?? 0) + 1
    if (shape === 'single' && typeof result === 'string') {
      if (result === 'event_name_missing') return { kind: 'refused', code: 'payload_unhydratable' }
      if (result === 'cookieless_mode_invalid') return { kind: 'refused', code: result }
      if (schemaFaults.includes(result)) return { kind: 'refused', code: 'payload_unparseable' }
    }
  }
  return { kind: 'captured', historical, rows, drops, warnings }
}

const schemaFaults = [
  'event_name_invalid',
  'uuid_invalid',
  'properties_invalid',
  'set_invalid',
  'timestamp_invalid',
  'offset_invalid',
]

function schemaFault(event: JsonObject, isEngage: boolean): DropReason | null {
  const { event: name, properties, uuid, timestamp, offset } = event
  if (depthOf(event) > 128) return 'event_too_deep'
  if (name !== undefined && name !== null && typeof name !== 'string') return 'event_name_invalid'
  if ((name === undefined || name === null) && !isEngage) return 'event_name_missing'
  if (properties !== undefined && !isObject(properties)) return 'properties_invalid'
  for (const set of [event.$set, event.$set_once]) {
    const isEmptyList = Array.isArray(set) && set.length === 0
    if (set !== undefined && set !== null && !isObject(set) && !isEmptyList) return 'set_invalid'
  }
  if (uuid !== undefined && uuid !== null && typeof uuid !== 'string') return 'uuid_invalid'
  if (timestamp !== undefined && timestamp !== null && typeof timestamp !== 'string')
    return 'timestamp_invalid'
  if (offset !== undefined && offset !== null && !Number.isSafeInteger(offset)) return 'offset_invalid'
  const cookieless = properties === undefined ? undefined : properties.$cookieless_mode
  if (cookieless !== undefined && typeof cookieless !== 'boolean') return 'cookieless_mode_invalid'
  return typeof uuid === 'string' && uuid !== '' && uuidOf(uuid) === null ? 'uuid_invalid' : null
}

function plainEvent(event: Json, request: Request, isEngage: boolean): PlainRow | DropReason | 'warned' {
  if (!isObject(event)) return 'event_not_an_object'
  const fault = schemaFault(event, isEngage)
  if (fault !== null) return fault
  const name = (event.event ?? '$identify') as string // the schema holds
  const properties = { ...((event.properties ?? {}) as JsonObject) } // the schema holds
  if (name === '') return 'event_name_empty'
  if (name === '$performance_event') return 'performance_event'
  if (name === '$$client_ingestion_warning') {
    request.warn('client_ingestion_warning')
    return 'warned'
  }
  const distinctId = distinctIdOf(event.distinct_id ?? event.$distinct_id ?? properties.distinct_id ?? '')
  if (distinctId === null) return 'distinct_id_missing'
  if (properties.$cookieless_mode === true || distinctId === '$posthog_cookieless')
    return 'cookieless_mode_off'
  const isAnonymous = properties.$process_person_profile === false
  if (isAnonymous && identityEvents.includes(name)) return 'person_processing_disabled'
  const groupKey = properties.$group_key
  if (name === '$groupidentify' && typeof groupKey === 'string' && groupKey.length > 400) {
    return 'group_key_too_long'
  }
  return plainRow(event, cutUnits(name), distinctId, properties, isAnonymous, request)
}

function plainRow(
  event: JsonObject,
  name: string,
  distinctId: string,
  properties: JsonObject,
  isAnonymous: boolean,
  request: Request,
): PlainRow {
  const time = eventTimestamp({
    timestamp: typeof event.timestamp === 'string' ? parseTimestamp(event.timestamp) : null,
    hasTimestamp: typeof event.timestamp === 'string',
    offsetMs: typeof event.offset === 'number' ? event.offset : null,
    sentAtMs: request.sentAtMs,
    ignoreSentAt: properties.$ignore_sent_at === true,
    historical: request.historical,
    nowMs: request.task.receivedAtMs,
  })
  if (time.remark !== null) request.warn(time.remark)
  const uuid = typeof event.uuid === 'string' && event.uuid !== '' ? uuidOf(event.uuid) : null
  const elementsChain = chainOf(properties)
  const flags: string[] = []
  if (uuid !== null) flags.push('clientUuid')
  if (isAnonymous) flags.push('anonymous')
  if (identityEvents.includes(name)) flags.push('identity')
  if (isObject(properties.$groups)) flags.push('groups')
  if (isAnonymous) {
    for (const key of ['$set', '$set_once', '$unset', '$group_0', '$group_1', '$group_2'])
      delete properties[key]
    for (const key of ['$group_3', '$group_4']) delete properties[key]
  } else {
    warnOfPersonFields(properties, request)
    mergeSets(event, properties)
  }
  const place = placeOf(properties, request)
  const person = isAnonymous ? null : personOf(name, properties, place)
  if (lacksProperty(name, properties)) request.warn('required_property_missing')
  normalise(properties, isAnonymous, request)
  if (place !== null) {
    for (const key of placeNames) delete properties[key]
    Object.assign(properties, place)
  }
  const bornId = new Uint8Array(16)
  const id = new Uint8Array(Buffer.from(distinctId))
  writeBornId(request.projectId, id, 0, id.length, bornId, 0)
  return {
    event: name,
    distinctId,
    uuid,
    bornId: formatUuid(bornId, 0),
    micros: time.micros,
    flags,
    properties,
    person,
    elementsChain,
  }
}

function warnOfPersonFields(properties: JsonObject, request: Request): void {
  const profile = properties.$process_person_profile
  if (profile !== undefined && profile !== true) request.warn('process_person_profile_invalid')
  const isFine = (set: Json | undefined) =>
    set === undefined || set === null || isObject(set) || (Array.isArray(set) && set.length === 0)
  if (!isFine(properties.$set) || !isFine(properties.$set_once)) request.warn('set_malformed')
}

/** Merges the top level's `$set`, `$set_once` and `$unset` into properties. */
function mergeSets(event: JsonObject, properties: JsonObject): void {
  for (const key of ['$set', '$set_once', '$unset']) {
    let top = event[key]
    const own = properties[key]
    if (Array.isArray(top) && key !== '$unset') top = {}
    if (Array.isArray(top)) properties[key] = Array.isArray(own) ? [...own, ...top] : top
    else if (isObject(top)) properties[key] = isObject(own) ? { ...own, ...top } : top
  }
}

function personOf(name: string, properties: JsonObject, place: JsonObject | null): JsonObject | null {
  const person: JsonObject = {}
  const take = (...keys: string[]) => {
    for (const key of keys) if (has(properties, key)) person[key] = properties[key] as Json // it has the key
  }
  if (name !== '$groupidentify') {
    if (isObject(properties.$set)) take('$set')
    if (isObject(properties.$set_once)) take('$set_once')
    if (isObject(properties.$unset) || Array.isArray(properties.$unset)) take('$unset')
    if (name !== '$snapshot') {
      take(...mappedNames)
      if (place !== null) for (const key of placeNames) person[key] = place[key] ?? null
    }
  }
  if (isObject(properties.$groups)) take('$groups')
  if (name === '$identify' && properties.$anon_distinct_id !== null) take('$anon_distinct_id')
  if (name === '$create_alias' || name === '$merge_dangerously') take('alias')
  if (name === '$groupidentify') take('$group_type', '$group_key', '$group_set')
  return Object.keys(person).length === 0 ? null : person
}

/** Where the event came from; null when nobody knows, or may know. */
function placeOf(properties: JsonObject, request: Request): JsonObject | null {
  const { geoip, clientIp } = request.task
  if (geoip === null || request.anonymizeIps || properties.$geoip_disable) return null
  const { $ip: ip = null } = properties
  if (ip !== null && ip !== '') return typeof ip === 'string' ? findPlace(geoip, ip) : null
  return has(properties, 'capture_internal') ? null : findPlace(geoip, clientIp)
}

function lacksProperty(name: string, properties: JsonObject): boolean {
  const lacks = (...keys: string[]) =>
    keys.some((key) => properties[key] === undefined || properties[key] === null)
  if (name === '$pageview') return typeof properties.$current_url !== 'string'
  if (name === '$screen') return typeof properties.$screen_name !== 'string'
  if (name === '$identify') return !isObject(properties.$set)
  if (name === '$create_alias') return typeof properties.alias !== 'string'
  if (name === '$groupidentify') return lacks('$group_type', '$group_key') || !isObject(properties.$group_set)
  if (name === 'survey sent') return lacks('$survey_id', '$survey_response')
  if (name === 'survey shown' || name === 'survey dismissed') return lacks('$survey_id')
  if (name === '$feature_flag_called') {
    return lacks('$feature_flag') || properties.$feature_flag_response === undefined
  }
  return false
}

function chainOf(properties: JsonObject): string {
  const { $elements_chain: chain, $elements: elements } = properties
  if (typeof chain === 'string' && chain !== '') return chain
  return Array.isArray(elements) ? plainChain(elements) : ''
}

/** The other changes between what was sent and what is stored. */
function normalise(properties: JsonObject, isAnonymous: boolean, request: Request): void {
  delete properties.$elements
  delete properties.$elements_chain
  if (!isAnonymous) delete properties.$process_person_profile
  const ip = has(properties, 'capture_internal') ? '127.0.0.1' : request.task.clientIp
  if (request.anonymizeIps) delete properties.$ip
  else if ((properties.$ip === undefined || properties.$ip === null || properties.$ip === '') && ip !== '') {
    properties.$ip = ip
  }
  if (request.sentAtMs !== null) properties.$sent_at = new Date(request.sentAtMs).toISOString()
  const session = properties.$session_id
  if (typeof session === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(session)) {
    properties.$session_id = session.toLowerCase()
  }
}

function distinctIdOf(value: Json): string | null {
  const text = typeof value === 'string' ? value : canonical(value)
  return text.trim() === '' ? null : [...text].slice(0, 200).join('')
}

/** Compact JSON with sorted keys. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value))
    return Number.isFinite(value) || typeof value !== 'number' ? JSON.stringify(value) : `${value}`
  const keys = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`).join(',')}}`
}

function cutUnits(name: string): string {
  let cut = ''
  for (const character of name) {
    if (cut.length + character.length > 200) break
    cut += character
  }
  return cut
}

function uuidOf(text: string): string | null {
  const bytes = new Uint8Array(16)
  return parseUuidText(text, bytes, 0) ? formatUuid(bytes, 0) : null
}

function keyOf(fields: JsonObject): string | null {
  const keys = [fields.api_key, fields.token, fields.$token]
  return keys.find((key) => typeof key === 'string') ?? null
}

function tokenProperty(event: Json | undefined): string | null {
  const properties = isObject(event) ? event.properties : undefined
  return isObject(properties) && typeof properties.token === 'string' ? properties.token : null
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let deepest = 0
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member))
  return deepest + 1
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function has(value: JsonObject, key: string): boolean {
  return Object.hasOwn(value, key)
}
