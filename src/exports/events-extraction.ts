// The rows of a run of the model events: those of its stretch of the ingest sequence, lane by lane, in chunks that are
// stretches themselves. Rows of a stretch do not change by arriving late: whatever comes is behind all that is there.
// What they say can: whose event it is, groups, and whether it was deleted are as they are when the chunk is taken.

import type { TenantSql } from '../api/tenant-sql.ts'
import { laneNumbers, type Offset, type Offsets } from '../consumer/offset.ts'
import { Parameters } from '../events/property-filter.ts'
import { type Lane, lanes, type Position } from '../journal/journal.ts'
import type { Ast } from '../query/ast.ts'
import { listOf, nodeOf, printStatement, readStatement } from '../query/ast.ts'
import { compileQuery, parseQuery } from '../query/compile.ts'
import { decodeOffsets, isBefore } from './boundary.ts'
import { eventConditions, inlined, nameConditions, personConditions } from './event-conditions.ts'
import { copyPersons, type PersonSize, personCondition, personSizes } from './event-persons.ts'
import {
  chunkRowsMax,
  type EventsStore,
  type Extraction,
  extractWith,
  type Subject,
  type Taken,
} from './extraction.ts'
import { exportColumnNames } from './hogql-query.ts'

/** A stretch of one lane, [from, to). */
export interface LaneStretch {
  readonly lane: Lane
  readonly from: Offset
  readonly to: Offset
}

/** Bytes of a row beside its texts. */
const rowBytes = 200

const columns = `uuid, event, distinct_id, person_id, properties, elements_chain, timestamp,
  received_at as created_at, project_id::bigint as team_id`

export function openEventsExtraction(
  store: EventsStore,
  sql: TenantSql,
  subject: Subject,
  rowsMax = chunkRowsMax,
): Extraction {
  const start = decodeOffsets(subject.stretchStart)
  const end = decodeOffsets(subject.stretchEnd)
  return {
    async count() {
      // Persons are looked at when events are taken.
      return hasPersonFilters(subject) ? null : await count(store, subject, start, end)
    },
    async next(cursor, path, signal, sentTo) {
      const stretch = stretchAfter(cursor, start, end)
      if (stretch === null) return { extracted: null, cursor: cursor ?? '', isLast: true }
      const sent = subject.hasPersonProperties ? null : readCursor(sentTo)
      const { chunk, persons } =
        sent === null
          ? await chunkOf(store, sql, subject, stretch, rowsMax)
          : await withItsPersons(store, sql, subject, { ...stretch, to: sent.offset })
      const nextCursor = `${chunk.lane} ${chunk.to.position}.${chunk.to.index}`
      const isLast = stretchAfter(nextCursor, start, end) === null
      const request = await selectOf(store, subject, chunk)
      const copies = persons === null ? null : copyPersons(sql, subject.projectId, persons)
      const extracted = await extractWith(store, { ...request, path, format: subject.format }, signal, copies)
      const taken: Taken = {
        extracted: extracted.rowCount > 0 ? extracted : null,
        cursor: nextCursor,
        isLast,
      }
      return taken
    },
  }
}

/** What is left of the first lane that has something left. */
function stretchAfter(cursor: string | null, start: Offsets, end: Offsets): LaneStretch | null {
  const at = readCursor(cursor)
  const first = at === null ? 0 : lanes.indexOf(at.lane)
  for (const lane of lanes.slice(first)) {
    const from = at?.lane === lane ? at.offset : start[lane]
    if (isBefore(from, end[lane])) return { lane, from, to: end[lane] }
  }
  return null
}

function readCursor(cursor: string | null): { readonly lane: Lane; readonly offset: Offset } | null {
  const parts = /^(\w+) (\d+)\.(\d+)$/.exec(cursor ?? '')
  const lane = lanes.find((one) => one === parts?.[1])
  if (parts === null || lane === undefined) return null
  return { lane, offset: { position: Number(parts[2]) as Position, index: Number(parts[3]) } } // written above
}

/** Conditions that the rows of a stretch meet and no others; the first of them let DuckDB pass over row groups. */
export function stretchConditions({ lane, from, to }: LaneStretch, parameters: Parameters): string[] {
  const position = (offset: Offset): string => parameters.add(offset.position, 'bigint')
  const index = (offset: Offset): string => parameters.add(offset.index, 'uinteger')
  return [
    `lane = ${parameters.add(laneNumbers[lane], 'utinyint')}`,
    `position >= ${position(from)} and position <= ${position(to)}`,
    `(position > ${position(from)} or index >= ${index(from)})`,
    `(position < ${position(to)} or index < ${index(to)})`,
  ]
}

/**
 * Where the chunk ends that begins where `stretch` does. Rows lie in the table in the order of a lane, and a LIMIT
 * without ORDER BY takes the first of them and stops; were it ever to take others, chunks would be larger, and still
 * hold what they should. The table is read as it is: the view's joins would not change where a chunk ends by much.
 */
async function chunkEnd(
  store: EventsStore,
  subject: Subject,
  stretch: LaneStretch,
  rowsMax: number,
): Promise<Offset> {
  const parameters = new Parameters()
  const where = [
    `project_id = ${parameters.add(subject.projectId, 'integer')}`,
    ...stretchConditions(stretch, parameters),
    ...nameConditions(subject.config, parameters),
  ]
  const fits = `place <= ${rowsMax} and coalesce(bytes_before, 0) < ${parameters.add(subject.chunkBytesMax, 'bigint')}`
  const { rows } = await store.queryForExport(
    `select max({'position': position, 'index': index}) filter (${fits}), count(*), count(*) filter (${fits})
     from (
       select position, index, row_number() over () as place,
         sum(bytes) over (rows between unbounded preceding and 1 preceding) as bytes_before
       from (
         select position, index, strlen(properties::varchar) + strlen(elements_chain) + strlen(event)
           + strlen(distinct_id) + ${rowBytes} as bytes
         from temp.main.paced_event where ${where.join(' and ')} limit ${rowsMax + 1}
       )
     )`,
    parameters.values,
  )
  const [last, found, fitting] = rows[0] ?? []
  const isWhole = Number(found) <= rowsMax && Number(found) === Number(fitting)
  if (isWhole || last === null || last === undefined) return stretch.to
  const { position, index } = last as { position: string; index: number } // the struct above, BIGINTs as text
  return { position: Number(position) as Position, index: index + 1 } // an event's
}

interface Chunk {
  readonly chunk: LaneStretch
  /** Of its events; null where they do not matter. */
  readonly persons: readonly PersonSize[] | null
}

/** The chunk at the beginning of `stretch`; with persons it has as few events as these need. */
async function chunkOf(
  store: EventsStore,
  sql: TenantSql,
  subject: Subject,
  stretch: LaneStretch,
  rowsMax: number,
): Promise<Chunk> {
  for (let limit = rowsMax; ; ) {
    const end = await chunkEnd(store, subject, stretch, limit)
    const { rows, bytes, ...chunk } = await withItsPersons(store, sql, subject, { ...stretch, to: end })
    if (bytes <= subject.chunkBytesMax || rows <= 1) return chunk
    limit = Math.max(1, Math.floor(Math.min(limit, rows) * Math.min(0.9, subject.chunkBytesMax / bytes)))
  }
}

/** `rows` and `bytes` are of its events with persons; persons that only choose events are copied once. */
async function withItsPersons(
  store: EventsStore,
  sql: TenantSql,
  subject: Subject,
  chunk: LaneStretch,
): Promise<Chunk & { readonly rows: number; readonly bytes: number }> {
  if (!subject.hasPersonProperties && !hasPersonFilters(subject))
    return { chunk, persons: null, rows: 0, bytes: 0 }
  const counts = await countByPerson(store, subject, chunk)
  const persons = await personSizes(sql, subject.projectId, [...counts.keys()])
  let rows = 0
  for (const count of counts.values()) rows += count
  const timesOf = (uuid: string): number => (subject.hasPersonProperties ? (counts.get(uuid) ?? 0) : 1)
  const bytes = persons.reduce((sum, person) => sum + person.bytes * timesOf(person.uuid), 0)
  return { chunk, persons, rows, bytes }
}

function hasPersonFilters({ filters }: Subject): boolean {
  return personConditions('events', filters, new Parameters()).length > 0
}

async function countByPerson(
  store: EventsStore,
  subject: Subject,
  chunk: LaneStretch,
): Promise<ReadonlyMap<string, number>> {
  const parameters = new Parameters()
  const where = conditionsOf(subject, chunk, parameters).join(' and ')
  const { rows } = await store.queryForExport(
    `select person_id::varchar, count(*)::integer from temp.main.paced_events events
     where ${where} group by person_id`,
    parameters.values,
  )
  return new Map(rows.map(([person, count]) => [String(person), Number(count)]))
}

async function count(store: EventsStore, subject: Subject, start: Offsets, end: Offsets): Promise<number> {
  let total = 0
  for (const lane of lanes) {
    const parameters = new Parameters()
    const where = conditionsOf(subject, { lane, from: start[lane], to: end[lane] }, parameters)
    const sql = `select count(*) from temp.main.paced_events where ${where.join(' and ')}`
    const { rows } = await store.queryForExport(sql, parameters.values)
    total += Number(rows[0]?.[0])
  }
  return total
}

function conditionsOf(subject: Subject, stretch: LaneStretch, parameters: Parameters): string[] {
  return [
    `project_id = ${parameters.add(subject.projectId, 'integer')}`,
    ...stretchConditions(stretch, parameters),
    ...eventConditions(subject.config, subject.filters, parameters),
  ]
}

async function selectOf(store: EventsStore, subject: Subject, stretch: LaneStretch) {
  const parameters = new Parameters()
  const ofEvents = conditionsOf(subject, stretch, parameters)
  const ofPersons = personConditions('events', subject.filters, parameters)
  const where = [...ofEvents, ...(ofPersons.length > 0 ? [personCondition(ofPersons)] : [])].join(' and ')
  if (subject.query === null) {
    const sql = `select ${columns} from temp.main.paced_events events where ${where}`
    return { sql: subject.hasPersonProperties ? withPersons(sql) : sql, values: parameters.values }
  }
  const statement = await parseQuery(store, subject.query)
  const names = exportColumnNames(subject.query, statement)
  const compiled = await compileQuery(store, statement, subject.projectId, ['events'], names)
  return { sql: await narrowed(store, compiled, inlined(where, parameters)), values: [] }
}

function withPersons(sql: string): string {
  return `select events.*, coalesce(person.properties, '{}'::json) as person_properties from (${sql}) events
    left join temp.main.copied_person person on person.id = events.person_id`
}

/** The compiled query over fewer events: `where` is added to the subquery that stands in for the table. */
async function narrowed(store: EventsStore, compiled: string, where: string): Promise<string> {
  const statement = await parse(store, compiled)
  const wanted = nodeOf((await parse(store, `select 1 from main.events where ${where}`)).where_clause)
  const entries = listOf(nodeOf(statement.cte_map).map).map(nodeOf)
  const map = entries.map((entry) => (entry.key === 's_events' ? narrowedEntry(entry, wanted) : entry))
  const tree = printStatement({ ...statement, cte_map: { map } })
  const { rows } = await store.query('select json_deserialize_sql($1::varchar::json)', [tree])
  return String(rows[0]?.[0])
}

function narrowedEntry(entry: Ast, wanted: Ast): Ast {
  const value = nodeOf(entry.value)
  const query = nodeOf(value.query)
  const select = nodeOf(query.node)
  const both = [nodeOf(select.where_clause), wanted]
  const and = { class: 'CONJUNCTION', type: 'CONJUNCTION_AND', alias: '', query_location: 0, children: both }
  return { ...entry, value: { ...value, query: { ...query, node: { ...select, where_clause: and } } } }
}

async function parse(store: EventsStore, sql: string): Promise<Ast> {
  const { rows } = await store.query('select json_serialize_sql($1::varchar)', [sql])
  return readStatement(String(rows[0]?.[0]))
}
