// Where the persons in Postgres stand in the journal: one row, moved along by every step's transaction.

import { hasMarked, type Mark } from '../consumer/mark.ts'
import { type Offsets, sameOffset } from '../consumer/offset.ts'
import { ServiceError } from '../errors.ts'
import { type JournalReader, type JournalState, lanes, type Position } from '../journal/journal.ts'
import type { Session } from '../postgres/pool.ts'
import type { PersonsStep, StoredProgress } from './persons-store.ts'

/** Reads the row, which begins at the start of the journal `epoch` when there is none. */
export async function readProgress(session: Session, epoch: string): Promise<StoredProgress> {
  await session.query('insert into persons_progress (epoch) values ($1) on conflict do nothing', [epoch])
  const { rows } = await session.query<{
    epoch: string
    realtime_position: Position // written from Positions
    realtime_index: number
    historical_position: Position
    historical_index: number
    realtime_record: Position | null
    realtime_checksum: number | null
    historical_record: Position | null
    historical_checksum: number | null
    change_epoch: string
    change_seq: number
  }>('select * from persons_progress')
  const row = rows[0]
  if (row === undefined)
    throw new ServiceError('store_fenced', { detail: 'persons_progress has been emptied' })
  return {
    epoch: row.epoch,
    offsets: {
      realtime: { position: row.realtime_position, index: row.realtime_index },
      historical: { position: row.historical_position, index: row.historical_index },
    },
    marks: {
      realtime: markIn(row.realtime_record, row.realtime_checksum),
      historical: markIn(row.historical_record, row.historical_checksum),
    },
    changes: { epoch: row.change_epoch, seq: row.change_seq },
  }
}

function markIn(position: Position | null, checksum: number | null): Mark | null {
  return position === null || checksum === null ? null : { position, checksum }
}

/**
 * Moves the row along within the running transaction.
 * Errors: store_fenced when it is not at `from`: another consumer was at work.
 */
export async function moveProgress(
  session: Session,
  epoch: string,
  { from, to, marks, nowMs }: Pick<PersonsStep, 'from' | 'to' | 'marks' | 'nowMs'>,
): Promise<void> {
  const numbers = [from, to].flatMap((offsets) =>
    lanes.flatMap((lane) => [offsets[lane].position, offsets[lane].index]),
  )
  const { rowCount } = await session.query(
    `update persons_progress set realtime_position = $6, realtime_index = $7, historical_position = $8,
       historical_index = $9, realtime_record = coalesce($10, realtime_record),
       realtime_checksum = coalesce($11, realtime_checksum), historical_record = coalesce($12, historical_record),
       historical_checksum = coalesce($13, historical_checksum),
       changed_at = greatest(to_timestamp($14), changed_at + interval '1 microsecond')
     where epoch = $1 and realtime_position = $2 and realtime_index = $3 and historical_position = $4
       and historical_index = $5`,
    [
      epoch,
      ...numbers,
      ...lanes.flatMap((lane) => [marks[lane]?.position, marks[lane]?.checksum]),
      nowMs / 1000,
    ],
  )
  if (rowCount === 1) return
  const detail = 'another consumer has moved the persons along; this one reads again where they stand'
  throw new ServiceError('store_fenced', { detail })
}

/**
 * Holds the store against the journal. Returns null when consuming can go on, or the reason why it cannot.
 * Errors: lineage_foreign when the store was made from another journal, from more of this one than there is, or from
 * another copy of it that has gone its own way.
 */
export function checkProgress(
  { epoch, offsets, marks }: Pick<StoredProgress, 'epoch' | 'offsets' | 'marks'>,
  journal: JournalState,
  reader: JournalReader,
): string | null {
  if (epoch !== journal.epoch) {
    const detail =
      `the persons in Postgres were made from journal ${epoch}, the journal here is ${journal.epoch}. Remedy: set ` +
      'DATA_DIR and DATABASE_URL to a pair that belongs together'
    throw new ServiceError('lineage_foreign', { detail })
  }
  for (const lane of lanes) {
    const { position, index } = offsets[lane]
    const { oldest, committed } = journal.lanes[lane]
    if (position > committed || (position === committed && index > 0)) {
      const detail =
        `the persons in Postgres know the ${lane} lane up to ${position}, the journal ends at ${committed}: it was ` +
        'restored or cut. Remedy: put back the journal folder that belongs to the database'
      throw new ServiceError('lineage_foreign', { detail })
    }
    if (position < oldest)
      return (
        `the journal's ${lane} lane begins at ${oldest}, the persons in Postgres need it from ${position}: ` +
        'restore a newer backup of the database'
      )
    if (!hasMarked(reader, lane, journal.lanes[lane], offsets[lane], marks[lane])) {
      const detail =
        `the persons in Postgres were made from another copy of this journal: what they know of the ${lane} lane ` +
        `before ${position} is not what the journal here has. Two data folders were used with one database. Remedy: ` +
        'start the one that was last at work; the other one needs a database of its own'
      throw new ServiceError('lineage_foreign', { detail })
    }
  }
  return null
}

/** True when nothing lies between the two. */
export function sameOffsets(left: Offsets, right: Offsets): boolean {
  return lanes.every((lane) => sameOffset(left[lane], right[lane]))
}
