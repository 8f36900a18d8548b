// What people may read, by the names that PostHog's SQL has for it, as SELECTs of one project's rows.
//
//   events                events as every read sees them (src/events/pacing.ts); what is deleted is not there
//   sessions              events with a `$session_id`, one row a session
//   persons               copies of Postgres's rows, made for the query (src/events/copied-rows.ts)
//   person_distinct_ids
//   groups
//
// `person.…` of an event or of an id, and `group_0.…` of an event, are fields of a joined row: a query that names one
// reads the table with these fields as columns, under names that `*` leaves out.

import type { CopiedTable } from '../events/copied-rows.ts'
import { assert } from '../lib/assert.ts'
import { sessionsSelect } from './sessions.ts'

export const tableNames = ['events', 'sessions', 'persons', 'person_distinct_ids', 'groups'] as const
export type TableName = (typeof tableNames)[number]

/** Rows whose fields are read through the row that they belong to. */
export const joinedRows = ['person', 'group_0', 'group_1', 'group_2', 'group_3', 'group_4'] as const
export type Joined = (typeof joinedRows)[number]

export interface PeopleTable {
  /** The rows of one project, with the columns of what is joined. */
  readonly sql: string
  /** The columns of what is joined. */
  readonly hidden: readonly string[]
}

const groupIndexes = [0, 1, 2, 3, 4]

/** Field of a joined row → the column that holds it. Errors: null for one that there is not. */
export function fieldColumn(joined: Joined, field: string): string | null {
  if (joined === 'person') return field === 'id' ? 'person_id' : hiddenColumn(joined, field)
  return field === 'key' ? `$${joined}` : hiddenColumn(joined, field)
}

/** The table over the rows of `projectId`; `joins` are those that the query names. */
export function peopleTable(name: TableName, projectId: number, joins: readonly Joined[]): PeopleTable {
  assert(Number.isSafeInteger(projectId), 'a project is known by its number')
  const own = joinedBy[name].filter((joined) => joins.includes(joined))
  const hidden = own.flatMap(hiddenColumns)
  return { sql: selects[name](projectId, own), hidden }
}

/** The copies that a table reads, without what is joined. */
export function copyOf(name: string): CopiedTable | null {
  if (name === 'persons') return 'person'
  if (name === 'person_distinct_ids') return 'distinct_id'
  return name === 'groups' ? 'group' : null
}

const joinedBy: Readonly<Record<TableName, readonly Joined[]>> = {
  events: joinedRows,
  sessions: [],
  persons: [],
  person_distinct_ids: ['person'],
  groups: [],
}

type Select = (projectId: number, joins: readonly Joined[]) => string

const property = (name: string) => `json_extract_string(t.properties, '/${name}')`

const selects: Readonly<Record<TableName, Select>> = {
  events: (projectId, joins) => `
    select t.uuid, t.event, t.distinct_id, t.person_id, t.timestamp, t.properties, t.elements_chain,
      t.received_at as created_at, t.received_at as inserted_at, t.project_id as team_id,
      ${property('$session_id')} as "$session_id", ${property('$window_id')} as "$window_id",
      ${groupIndexes.map((index) => `${property(`$group_${index}`)} as "$group_${index}"`).join(', ')}
      ${joins.map(joinColumns).join('')}
    from temp.main.paced_events t ${joins.map(joinClause).join(' ')}
    where t.project_id = ${projectId}`,
  sessions: sessionsSelect,
  persons: (projectId) => `
    select t.id, t.created_at, t.is_identified, t.properties, t.project_id as team_id
    from temp.main.copied_person t where t.project_id = ${projectId}`,
  person_distinct_ids: (projectId, joins) => `
    select t.distinct_id, t.person_id, t.project_id as team_id ${joins.map(joinColumns).join('')}
    from temp.main.copied_distinct_id t ${joins.map(joinClause).join(' ')}
    where t.project_id = ${projectId}`,
  groups: (projectId) => `
    select t.index, t.key, t.created_at, t.properties, t.project_id as team_id
    from temp.main.copied_group t where t.project_id = ${projectId}`,
}

/** Fields of a joined row that are columns of their own. */
const personFields = ['properties', 'created_at', 'is_identified'] as const
const groupFields = ['properties', 'created_at'] as const

function fieldsOf(joined: Joined): readonly string[] {
  return joined === 'person' ? personFields : groupFields
}

function hiddenColumn(joined: Joined, field: string): string | null {
  return fieldsOf(joined).includes(field) ? `_${joined}_${field}` : null
}

function hiddenColumns(joined: Joined): string[] {
  return fieldsOf(joined).map((field) => `_${joined}_${field}`)
}

function joinColumns(joined: Joined): string {
  return fieldsOf(joined)
    .map((field) => `, ${joined}.${field} as _${joined}_${field}`)
    .join('')
}

/** Never more than one row: ids of persons and keys of groups are unique. */
function joinClause(joined: Joined): string {
  if (joined === 'person')
    return 'left join temp.main.copied_person person on person.project_id = t.project_id and person.id = t.person_id'
  const index = joined.slice(-1)
  return `left join temp.main.copied_group ${joined} on ${joined}.project_id = t.project_id
    and ${joined}.index = ${index} and ${joined}.key = ${property(`$${joined}`)}`
}
