// Groups and group types of a project while a step is folded. A type gets the lowest free index of five when it is
// first named; a sixth type is ignored. `$groups` names types and never makes a group: only $groupidentify does.

import type { Micros } from '../lib/clock.ts'
import { canonicalJson } from './canonical-json.ts'
import type { GroupType } from './changes.ts'
import { type GroupChange, groupNameUnitsMax } from './group-change.ts'
import { printMembers, readMembers } from './json-members.ts'
import type { Group, KnownProject } from './known.ts'
import { propertiesBytes, propertiesBytesMax } from './property-bounds.ts'

const groupTypesMax = 5

interface DraftGroup {
  readonly typeIndex: number
  readonly key: string
  readonly createdAtMicros: Micros
  version: number
  readonly properties: Map<string, string>
  isChanged: boolean
}

export class GroupDrafts {
  readonly #projectId: number
  readonly #known: KnownProject
  readonly #newTypes = new Map<string, number>()
  /** By type name, then by key. */
  readonly #groups = new Map<string, Map<string, DraftGroup>>()

  constructor(projectId: number, known: KnownProject) {
    this.#projectId = projectId
    this.#known = known
  }

  get hasNewTypes(): boolean {
    return this.#newTypes.size > 0
  }

  /** Gives the types that a `$groups` object names an index, as far as there is room. */
  nameTypes(groups: string): void {
    for (const name of readMembers(groups).keys()) this.#indexOf(name)
  }

  /**
   * Merges `change` into its group, key by key, or makes the group. Returns false when the properties would be too
   * large: the group stays as it is then.
   */
  change(change: GroupChange, eventMicros: Micros, nowMicros: Micros): boolean {
    const typeIndex = this.#indexOf(change.type)
    if (typeIndex === null) return true
    const properties = new Map<string, string>()
    for (const [key, value] of readMembers(change.set)) properties.set(key, canonicalJson(value))
    const group = this.#find(change, typeIndex)
    if (group !== null) return mergeInto(group, properties)
    const isTooLarge = propertiesBytes(properties) > propertiesBytesMax
    this.#keep(change, {
      typeIndex,
      key: change.key,
      createdAtMicros: eventMicros < nowMicros ? eventMicros : nowMicros,
      version: 1,
      properties: isTooLarge ? new Map() : properties,
      isChanged: true,
    })
    return !isTooLarge
  }

  types(): GroupType[] {
    return [...this.#newTypes].map(([name, index]) => ({ projectId: this.#projectId, name, index }))
  }

  /** Born and changed groups. */
  groups(): Group[] {
    const groups: Group[] = []
    for (const byKey of this.#groups.values()) {
      for (const { isChanged, properties, ...row } of byKey.values()) {
        if (!isChanged) continue
        groups.push({ projectId: this.#projectId, ...row, properties: printMembers(properties) })
      }
    }
    return groups
  }

  #indexOf(name: string): number | null {
    const known = this.#known.groupTypes.get(name) ?? this.#newTypes.get(name)
    if (known !== undefined) return known
    if (name === '' || name.length > groupNameUnitsMax) return null
    const taken = new Set([...this.#known.groupTypes.values(), ...this.#newTypes.values()])
    for (let index = 0; index < groupTypesMax; index++) {
      if (taken.has(index)) continue
      this.#newTypes.set(name, index)
      return index
    }
    return null
  }

  #find(change: GroupChange, typeIndex: number): DraftGroup | null {
    const draft = this.#groups.get(change.type)?.get(change.key)
    if (draft) return draft
    const row = this.#known.group(change.type, change.key)
    if (row === null) return null
    const properties = readMembers(row.properties)
    for (const [key, value] of properties) properties.set(key, canonicalJson(value))
    const { createdAtMicros, version, key } = row
    return this.#keep(change, { typeIndex, key, createdAtMicros, version, properties, isChanged: false })
  }

  #keep(change: GroupChange, group: DraftGroup): DraftGroup {
    const byKey = this.#groups.get(change.type) ?? new Map<string, DraftGroup>()
    this.#groups.set(change.type, byKey.set(change.key, group))
    return group
  }
}

function mergeInto(group: DraftGroup, changes: ReadonlyMap<string, string>): boolean {
  const changed = [...changes].filter(([key, value]) => group.properties.get(key) !== value)
  if (changed.length === 0) return true
  if (propertiesBytes(new Map([...group.properties, ...changed])) > propertiesBytesMax) return false
  for (const [key, value] of changed) group.properties.set(key, value)
  group.version++
  group.isChanged = true
  return true
}
