// What a step has changed, for whoever keeps copies of rows: a hash for each distinct_id, person and group, so that a
// step of ten thousand events is told in a few KiB. Two that share a hash cost a copy too many, never one too few.

import type { Changes } from '../identity/changes.ts'

/** Hashes; null: anything may have changed. */
export type Touched = Uint32Array | null

/** Returns what `changes` touch. Of a person moved to another both are touched, or its distinct_ids. */
export function touchedBy(changes: Changes): Touched {
  const { projectsDeleted, personsDeleted, persons, distinctIds, groups } = changes
  if (projectsDeleted.length > 0) return null
  const touched = new Uint32Array(personsDeleted.length + persons.length + distinctIds.length + groups.length)
  let count = 0
  for (const { projectId, uuid } of personsDeleted) touched[count++] = personHash(projectId, uuid)
  for (const { projectId, uuid } of persons) touched[count++] = personHash(projectId, uuid)
  for (const { projectId, distinctId } of distinctIds)
    touched[count++] = distinctIdHash(projectId, distinctId)
  for (const { projectId, typeIndex, key } of groups) touched[count++] = groupHash(projectId, typeIndex, key)
  return touched
}

export function personHash(projectId: number, uuid: string): number {
  return textHash(uuid, projectId ^ 0x70657273)
}

export function distinctIdHash(projectId: number, distinctId: string): number {
  return textHash(distinctId, projectId)
}

export function groupHash(projectId: number, typeIndex: number, key: string): number {
  return textHash(key, projectId ^ ((typeIndex + 1) << 28))
}

/** FNV-1a over UTF-16 code units, its last bits stirred once more since tables take their places from them. */
function textHash(text: string, seed: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
