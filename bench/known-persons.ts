// Persons as their first visit would have left them, written at once: a million of them are there in a minute or two.

import { bornIdOf } from '../src/identity/born-id.ts'
import { nothingSeen } from '../src/identity/seen.ts'
import { printSeen } from '../src/persons/packed-seen.ts'
import type { Postgres } from '../src/postgres/pool.ts'
import { batchOf, visit } from './identity.ts'

/** Adds persons of project 1, from 0 on. */
export async function addPersons(postgres: Postgres, count: number): Promise<void> {
  const rowsMax = 20_000
  for (let start = 0; start < count; start += rowsMax) {
    const numbers = Array.from({ length: Math.min(rowsMax, count - start) }, (_, index) => start + index)
    const ids = numbers.map((person) => String(visit(person, '').distinct_id))
    const uuids = ids.map((id) => bornIdOf(1, id))
    const properties = numbers.map((person) => JSON.stringify(firstProperties(person)))
    await postgres.query(
      `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes, seen)
       select 1, uuid, now(), false, 0, properties::jsonb, octet_length(properties), seen
       from unnest($1::uuid[], $2::text[], $3::uuid[]) as made (uuid, properties, seen)`,
      [uuids, properties, seenBy(numbers)],
    )
    await postgres.query(
      `insert into person_distinct_id (project_id, distinct_id, person_uuid)
       select 1, * from unnest($1::text[], $2::uuid[])`,
      [ids, uuids],
    )
  }
  await postgres.query('vacuum analyze person, person_distinct_id')
}

/** What each has seen by then. */
function seenBy(persons: readonly number[]): (string | null)[] {
  const { digests } = batchOf(persons.length, (index) => visit(persons[index]!, ''))
  return Array.from(digests, (last) => printSeen({ ...nothingSeen, last }))
}

function firstProperties(person: number): object {
  const { properties } = visit(person, '')
  const entries = Object.entries(properties as object) // `visit` makes an object of them
  const initial = entries.map(([key, value]) => [`$initial_${key.replace('$', '')}`, value])
  return Object.fromEntries([...entries, ...initial])
}
