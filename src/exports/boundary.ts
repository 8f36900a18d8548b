// Where the stretch of an interval begins or ends: a place in what is stored, as text in Postgres.
//
//   events, sessions   "0.0 0.0"             the next event of each lane, realtime first: position and index
//   persons            "1714564800000000"    what changed before this time, in microseconds, lies before it
//
// The boundary of a moment T is what was stored by then: both stores write beside their rows when they wrote them, so
// the boundary of a past moment can be looked up and stays what it was. But a transaction whose time is before T may
// still commit when T is looked up right after. So a boundary that a run has used is remembered with the run and used
// again by whoever needs the boundary of the same moment: the next interval, a retry, a backfill. Stretches of
// intervals that follow each other thus abut, whatever the clock does.

import { forLanes, laneNumbers, type Offset, type Offsets, originOffset } from '../consumer/offset.ts'
import type { Position } from '../journal/journal.ts'
import { lanes } from '../journal/journal.ts'
import { assert } from '../lib/assert.ts'
import type { Session } from '../postgres/pool.ts'
import type { SqlRunner } from '../query/compile.ts'
import type { Model } from './delivery.ts'

/** What was stored before `atMs`. */
export async function offsetsBefore(store: SqlRunner, atMs: number): Promise<Offsets> {
  return readOffsets(store, 'where applied_at < make_timestamptz($1::bigint)', [String(atMs * 1000)])
}

/** How far the store is now. */
export async function offsetsNow(store: SqlRunner): Promise<Offsets> {
  return readOffsets(store, '', [])
}

async function readOffsets(store: SqlRunner, where: string, values: readonly string[]): Promise<Offsets> {
  const { rows } = await store.query(
    `select lane, max({'position': position, 'index': index}) from progress ${where} group by lane`,
    values,
  )
  return forLanes((lane): Offset => {
    const row = rows.find((one) => one[0] === laneNumbers[lane])
    if (row === undefined) return originOffset
    // The second column is the struct above; BIGINTs are printed as text.
    const { position, index } = row[1] as { position: string; index: number }
    return { position: Number(position) as Position, index } // written as a Position
  })
}

/** True when everything of `offsets` is there once the store is at `now`. */
export function isReached(offsets: Offsets, now: Offsets): boolean {
  return lanes.every((lane) => !isBefore(now[lane], offsets[lane]))
}

export function isBefore(left: Offset, right: Offset): boolean {
  return left.position < right.position || (left.position === right.position && left.index < right.index)
}

export function encodeOffsets(offsets: Offsets): string {
  return lanes.map((lane) => `${offsets[lane].position}.${offsets[lane].index}`).join(' ')
}

/** Null is the beginning. */
export function decodeOffsets(text: string | null): Offsets {
  if (text === null) return forLanes(() => originOffset)
  const parts = text.split(' ')
  assert(parts.length === lanes.length, 'a boundary names every lane')
  return forLanes((lane) => decodeOffset(parts[lanes.indexOf(lane)]!))
}

function decodeOffset(text: string): Offset {
  const [position, index] = text.split('.').map(Number)
  return { position: position as Position, index: index! } // encoded from an Offset
}

/** True for text that bounds stretches of this model: an export's model may be changed. */
export function isOfModel(model: Model, boundary: string | null): boolean {
  return boundary !== null && (model === 'persons' ? /^\d+$/ : /^\d+\.\d+ \d+\.\d+$/).test(boundary)
}

/** Persons that had changed before `atMs`. No step that commits later has a time before it (sql/0021). */
export async function changesBefore(session: Session, atMs: number): Promise<string> {
  const { rows } = await session.query<{ boundary: string }>(
    `select (extract(epoch from least(to_timestamp($1), changed_at + interval '1 microsecond')) * 1000000)::bigint::text
       as boundary
     from persons_progress`,
    [atMs / 1000],
  )
  return rows[0]?.boundary ?? '0'
}
