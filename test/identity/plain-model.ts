// The rules of persons and groups in the plainest form: one event at a time, JavaScript objects, no thought of speed.
// The oracle of the fold. It takes events as clients send them and shares nothing with the fold but the rules.
//
// It leaves out what has tests of its own: size limits, numbers that no double holds, odd types of ids.

import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SentEvent } from './captured.ts'

type Properties = Record<string, unknown>

export interface ModelPerson {
  uuid: string
  ids: string[]
  properties: Properties
  isIdentified: boolean
  version: number
  createdAt: string
}

export interface ModelGroup {
  properties: Properties
  version: number
  createdAt: string
}

const illegalIds = ['', 'null', 'undefined', 'anonymous', '[object Object]']

const pageProperties = [
  ...['$browser', '$browser_version', '$device_type', '$current_url', '$pathname', '$os', '$os_name'],
  ...['$os_version', '$referring_domain', '$referrer', '$screen_height', '$screen_width', '$viewport_height'],
  ...['$viewport_width', '$raw_user_agent'],
]
const mappedProperties = [
  ...pageProperties,
  ...[
    '$app_build',
    '$app_name',
    '$app_namespace',
    '$app_version',
    'utm_source',
    'utm_medium',
    'utm_campaign',
  ],
  ...['utm_content', 'utm_name', 'utm_term', 'gclid', 'gad_source', 'gclsrc', 'dclid', 'gbraid', 'wbraid'],
  ...['fbclid', 'msclkid', 'twclid', 'li_fat_id', 'mc_cid', 'igshid', 'ttclid', 'rdt_cid', 'irclid', '_kx'],
  ...['epik', 'qclid', 'sccid'],
]

/** Events whose `$set` is always written. */
const personEvents = ['$identify', '$create_alias', '$merge_dangerously', '$set']

export class PlainModel {
  persons = new Set<ModelPerson>()
  groupTypes: Record<string, number> = {}
  groups: Record<string, ModelGroup> = {}
  warnings: Record<string, number> = {}
  /** Ids whose events were deleted. */
  hiddenIds = new Set<string>()
  private readonly owners = new Map<string, ModelPerson>()
  private readonly projectId: number

  constructor(projectId = 1) {
    this.projectId = projectId
  }

  /** Applies one event that was received at `now`. */
  apply(event: SentEvent, now: string): void {
    const properties = asObject(event.properties)
    const name = String(event.event)
    // An anonymous event leaves persons and groups alone; one that would join ids is not even stored.
    if (properties.$process_person_profile === false) return
    for (const type of Object.keys(asObject(properties.$groups))) this.nameType(type)
    if (name === '$groupidentify') this.changeGroup(properties, String(event.timestamp), now)
    this.changePerson(event, name, properties)
  }

  /** Deletes the person with this uuid, if there is one. */
  deletePerson(uuid: string, hidesEvents: boolean): void {
    const person = [...this.persons].find((one) => one.uuid === uuid)
    if (person === undefined) return
    this.persons.delete(person)
    for (const id of person.ids) this.owners.delete(id)
    if (hidesEvents) for (const id of person.ids) this.hiddenIds.add(id)
  }

  personOf(id: string): ModelPerson | undefined {
    return this.owners.get(id)
  }

  /** The person that an id is born to. */
  bornId(id: string): string {
    return bornId(id, this.projectId)
  }

  private give(ids: string[], person: ModelPerson): void {
    person.ids.push(...ids)
    for (const id of ids) this.owners.set(id, person)
  }

  private changePerson(event: SentEvent, name: string, properties: Properties): void {
    const id = String(event.distinct_id)
    const update = updateOf(event, name, properties)
    const other = otherId(name, properties)
    if (other !== null && other !== id) {
      if (illegalIds.includes(id) || illegalIds.includes(other)) {
        this.warn('cannot_merge_with_illegal_distinct_id')
      } else {
        const isAlias = name === '$create_alias'
        this.merge(event, name, isAlias ? other : id, isAlias ? id : other, update)
        return
      }
    }
    const person = this.personOf(id)
    if (person === undefined) this.create(event, [id], update, false)
    else if (setProperties(person, name, update)) person.version++
  }

  private merge(event: SentEvent, name: string, into: string, source: string, update: Update): void {
    const survivor = this.personOf(into)
    const leaving = this.personOf(source)
    const person = survivor ?? leaving
    if (!person) {
      this.create(event, [into, source], update, true)
      return
    }
    let isChanged = false
    if (!survivor) this.give([into], person)
    else if (!leaving) this.give([source], person)
    else if (survivor !== leaving) {
      if (leaving.isIdentified && name !== '$merge_dangerously') {
        this.warn('cannot_merge_already_identified')
      } else {
        this.give(leaving.ids, survivor)
        survivor.properties = { ...leaving.properties, ...survivor.properties }
        survivor.version = Math.max(survivor.version, leaving.version)
        if (leaving.createdAt < survivor.createdAt) survivor.createdAt = leaving.createdAt
        this.persons.delete(leaving)
        isChanged = true
      }
    }
    if (!person.isIdentified) isChanged = true
    person.isIdentified = true
    if (setProperties(person, name, update)) isChanged = true
    if (isChanged) person.version++
  }

  private create(event: SentEvent, ids: string[], update: Update, isIdentified: boolean): void {
    const properties: Properties = { ...update.setOnce, ...update.set }
    for (const key of update.unset) delete properties[key]
    properties.$creator_event_uuid = event.uuid
    const createdAt = String(event.timestamp)
    const uuid = this.bornId(String(ids[0]))
    const person: ModelPerson = { uuid, ids: [], properties, isIdentified, version: 0, createdAt }
    this.persons.add(person)
    this.give(ids, person)
  }

  private nameType(type: string): void {
    if (type in this.groupTypes) return
    const free = [0, 1, 2, 3, 4].find((index) => !Object.values(this.groupTypes).includes(index))
    if (free !== undefined) this.groupTypes[type] = free
  }

  private changeGroup(properties: Properties, eventTime: string, now: string): void {
    const { $group_type: type, $group_key: key } = properties
    if (!type || !key) return
    this.nameType(String(type))
    if (!(String(type) in this.groupTypes)) return
    const set = asObject(properties.$group_set)
    const group = this.groups[`${type} ${key}`]
    if (group === undefined) {
      const createdAt = eventTime < now ? eventTime : now
      this.groups[`${type} ${key}`] = { properties: set, version: 1, createdAt }
      return
    }
    const merged = { ...group.properties, ...set }
    if (isDeepStrictEqual(merged, group.properties)) return
    group.properties = merged
    group.version++
  }

  private warn(reason: string): void {
    this.warnings[reason] = (this.warnings[reason] ?? 0) + 1
  }
}

interface Update {
  set: Properties
  setOnce: Properties
  unset: string[]
}

function updateOf(event: SentEvent, name: string, properties: Properties): Update {
  if (name === '$groupidentify') return { set: {}, setOnce: {}, unset: [] }
  const set: Properties = { ...asObject(properties.$set), ...asObject(event.$set) }
  const setOnce: Properties = { ...asObject(properties.$set_once), ...asObject(event.$set_once) }
  for (const key of mappedProperties) {
    if (!(key in properties) || key === '$os_name') continue
    if (!(key in set)) set[key] = properties[key]
    const initial = `$initial_${key.replace('$', '')}`
    if (!(initial in setOnce)) setOnce[initial] = properties[key]
  }
  if ('$os_name' in properties) {
    if (properties.$os_name) {
      set.$os = '$os' in set ? set.$os : properties.$os_name
      setOnce.$initial_os = '$initial_os' in setOnce ? setOnce.$initial_os : properties.$os_name
    }
    delete set.$os_name
    delete setOnce.$initial_os_name
  }
  if (name === 'survey shown' && !('$survey_last_seen_date' in set)) {
    set.$survey_last_seen_date = event.timestamp
  }
  const { $unset } = properties
  const unset = Array.isArray($unset) ? $unset.map(String) : Object.keys(asObject($unset))
  return { set, setOnce, unset }
}

/** Applies an update to a person that was there before. Returns whether it changed anything. */
function setProperties(person: ModelPerson, name: string, update: Update): boolean {
  if (name === '$exception' || name === '$$heatmap') return false
  const before = person.properties
  const after: Properties = { ...before }
  for (const [key, value] of Object.entries(update.setOnce)) if (!(key in after)) after[key] = value
  Object.assign(after, update.set)
  for (const key of update.unset) delete after[key]
  const gone = Object.keys(before).filter((key) => !(key in after))
  const changed = Object.keys(after).filter((key) => !isDeepStrictEqual(after[key], before[key]))
  if (gone.length + changed.length === 0) return false
  const isForNothing = changed.every((key) => key in before && pageProperties.includes(key))
  if (gone.length === 0 && isForNothing && !personEvents.includes(name)) return false
  person.properties = after
  return true
}

function otherId(name: string, properties: Properties): string | null {
  if (name === '$identify') {
    const anonymous = properties.$anon_distinct_id
    return anonymous === undefined || anonymous === null ? null : String(anonymous)
  }
  if (name !== '$create_alias' && name !== '$merge_dangerously') return null
  return properties.alias ? String(properties.alias) : null
}

function asObject(value: unknown): Properties {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return { ...value }
}

/** uuidv5 of "<project>:<distinct_id>". */
export function bornId(distinctId: string, projectId = 1): string {
  const namespace = Buffer.from('932979b465c3442484670b66ec27bc22', 'hex')
  const hash = createHash('sha1').update(namespace).update(`${projectId}:${distinctId}`).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  )
}
