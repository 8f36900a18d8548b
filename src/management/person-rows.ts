// Persons as the API shows them: how they are read, and how they are printed.

import { Type } from '../api/schema.ts'
import type { SqlValues } from './sql-values.ts'

export const personSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  uuid: Type.String({ format: 'uuid' }),
  name: Type.String({ description: 'The first display property that is set, else the first distinct_id.' }),
  distinct_ids: Type.Array(Type.String()),
  properties: Type.Object({}, { additionalProperties: true }),
  created_at: Type.String({ format: 'date-time' }),
  is_identified: Type.Boolean(),
})

export interface PersonRow {
  readonly uuid: string
  readonly name: string | null
  readonly distinct_ids: readonly string[]
  /** JSON text. */
  readonly properties: string
  readonly created_at: string
  readonly is_identified: boolean
}

/** Ids shown of one person; a shared device or a wrong identify can give it any number. */
export const distinctIdsMax = 100
const nameCharsMax = 400
/** What a person is called by where the project names no properties of its own (upstream's order). */
const displayProperties = ['email', 'Email', '$email', 'name', 'Name', 'username', 'Username', 'UserName']

/** Selects PersonRows from `persons`, a statement that selects rows of the table person of one project. */
export function selectPersons(persons: string, projectId: number, values: SqlValues): string {
  const project = values.add(projectId, 'integer')
  return `select uuid, created_at, is_identified, properties::text as properties,
      array(select distinct_id from person_distinct_id
            where project_id = ${project} and person_uuid = person.uuid
            order by distinct_id limit ${distinctIdsMax}) as distinct_ids,
      (select left(properties ->> display.key, ${nameCharsMax})
       from unnest(coalesce((select person_display_name_properties from project where id = ${project}),
         ${values.add(displayProperties, 'text[]')})) with ordinality as display (key, place)
       where properties ->> display.key <> ''
       order by display.place limit 1) as name
    from (${persons}) person`
}

/** Prints one person. Its properties are put in as they are stored: no number in them is read and printed again. */
export function personText(row: PersonRow): string {
  const { uuid, distinct_ids, properties, created_at, is_identified } = row
  const name = row.name ?? distinct_ids[0] ?? uuid
  return (
    `{"id":"${uuid}","uuid":"${uuid}","name":${JSON.stringify(name)},` +
    `"distinct_ids":${JSON.stringify(distinct_ids)},"properties":${properties},` +
    `"created_at":"${created_at}","is_identified":${is_identified}}`
  )
}
