// Persons and groups put straight into the tables, for tests of what is read from them.

import type { Postgres } from '../../src/postgres/pool.ts'

interface PersonSeed {
  readonly number: number
  readonly projectId?: number
  readonly distinctIds?: readonly string[]
  /** JSON text. */
  readonly properties?: string
  readonly propertiesBytes?: number
  readonly createdAt?: string
  readonly isIdentified?: boolean
}

export function personUuid(number: number): string {
  return `0191e9ce-9a87-5000-8000-${String(number).padStart(12, '0')}`
}

export async function addPerson(postgres: Postgres, seed: PersonSeed): Promise<void> {
  const { number, projectId = 1, distinctIds = [`id-${number}`], properties = '{}' } = seed
  const {
    createdAt = '2024-05-01T00:00:00Z',
    isIdentified = false,
    propertiesBytes = properties.length,
  } = seed
  await postgres.query(
    `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes)
     values ($1, $2, $3, $4, 0, $5::jsonb, $6)`,
    [projectId, personUuid(number), createdAt, isIdentified, properties, propertiesBytes],
  )
  await postgres.query(
    `insert into person_distinct_id (project_id, distinct_id, person_uuid)
     select $1, distinct_id, $2 from unnest($3::text[]) as ids (distinct_id)`,
    [projectId, personUuid(number), distinctIds],
  )
}

interface GroupSeed {
  readonly key: string
  readonly projectId?: number
  readonly typeIndex?: number
  /** JSON text. */
  readonly properties?: string
  readonly createdAt?: string
}

export async function addGroup(postgres: Postgres, seed: GroupSeed): Promise<void> {
  const { key, projectId = 1, typeIndex = 0, properties = '{}', createdAt = '2024-05-01T00:00:00Z' } = seed
  await postgres.query(
    `insert into project_group (project_id, type_index, key, created_at, version, properties, properties_bytes)
     values ($1, $2, $3, $4, 0, $5::jsonb, $6)`,
    [projectId, typeIndex, key, createdAt, properties, properties.length],
  )
}

export async function addGroupType(
  postgres: Postgres,
  projectId: number,
  typeIndex: number,
  name: string,
): Promise<void> {
  await postgres.query('insert into group_type (project_id, type_index, name) values ($1, $2, $3)', [
    projectId,
    typeIndex,
    name,
  ])
}
