// What a body asks: who it is about, what is known of them, and which flags. SDKs have named the same fields in many
// ways; the first name that holds something counts. What cannot be read is as good as absent.

import { idIn, type JsonObject, listIn, memberOf, objectIn, textIn } from './json-value.ts'

export interface FlagRequest {
  /** Null when the body has none. */
  readonly apiKey: string | null
  /** Null when the body has none, '' when it is empty. */
  readonly distinctId: string | null
  /** What the person was before, '' when not said. */
  readonly anonDistinctId: string
  /** '' when not said. */
  readonly deviceId: string
  /** Group keys by type name. */
  readonly groups: JsonObject
  readonly personProperties: JsonObject | null
  /** By type name. */
  readonly groupProperties: JsonObject
  readonly isGeoipDisabled: boolean
  readonly areFlagsDisabled: boolean
  /** Only these flags; null: all. */
  readonly flagKeys: ReadonlySet<string> | null
  /** Only flags without tags, or with one of these; null: all. */
  readonly contexts: ReadonlySet<string> | null
  /** What the sender says it is; null when it does not. */
  readonly runtime: 'server' | 'client' | null
  /** It comes with a project's number, as a personal key once did. */
  readonly hasProjectId: boolean
}

/** Like the ids of captured events. */
const idCharsMax = 200
/** Capture stores no longer ones. */
const groupKeyCharsMax = 400
const listLengthMax = 10_000

export function parseFlagRequest(body: JsonObject): FlagRequest {
  const personProperties = objectIn(first(body, 'person_properties', '$properties'))
  const apiKey = first(body, 'token', 'api_key', '$token')
  const runtime = body.evaluation_runtime
  return {
    apiKey: typeof apiKey === 'string' ? apiKey : null,
    distinctId: idOrNull(first(body, 'distinct_id', '$distinct_id')),
    anonDistinctId: cut(
      idIn(
        first(body, '$anon_distinct_id', 'anon_distinct_id') ??
          memberOf(personProperties, '$anon_distinct_id'),
      ),
    ),
    deviceId: cut(idIn(first(body, '$device_id', 'device_id'))),
    groups: objectIn(first(body, 'groups', '$groups')) ?? {},
    personProperties,
    groupProperties: objectIn(first(body, 'group_properties', '$group_properties')) ?? {},
    isGeoipDisabled: body.geoip_disable === true,
    areFlagsDisabled: body.disable_flags === true,
    flagKeys: textsIn(first(body, 'flag_keys_to_evaluate', 'flag_keys')),
    contexts: textsOrNull(first(body, 'evaluation_contexts', 'evaluation_environments')),
    runtime: runtime === 'server' || runtime === 'client' ? runtime : null,
    hasProjectId: first(body, 'project_id') !== null,
  }
}

/** The key of the group of that type, '' when the request names none. */
export function groupKeyOf(request: FlagRequest, type: string): string {
  return cut(idIn(memberOf(request.groups, type)), groupKeyCharsMax)
}

function first(body: JsonObject, ...names: readonly string[]): unknown {
  for (const name of names) {
    const value = memberOf(body, name)
    if (value !== undefined && value !== null) return value
  }
  return null
}

function idOrNull(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? cut(idIn(value)) : null
}

/** Cuts to characters (code points). NUL is no text to Postgres, and capture has replaced it in what is stored. */
function cut(id: string, charsMax: number = idCharsMax): string {
  const short = id.length <= charsMax ? id : [...id.slice(0, 2 * charsMax)].slice(0, charsMax).join('')
  return short.includes('\0') ? short.replaceAll('\0', '\ufffd') : short
}

/** An empty list asks for nothing in particular. */
function textsOrNull(value: unknown): ReadonlySet<string> | null {
  const texts = textsIn(value)
  return texts?.size === 0 ? null : texts
}

function textsIn(value: unknown): ReadonlySet<string> | null {
  return Array.isArray(value) ? new Set(listIn(value).slice(0, listLengthMax).map(textIn)) : null
}
