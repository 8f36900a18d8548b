// Where the persons in Postgres stand in the journal: one row, moved along by every step's transaction.

import { type Offsets, sameOffset } from '../consumer/offset.ts'
import { ServiceError } from '../errors.ts'
import { type JournalState, lanes, type Position } from '../journal/journal.ts'
import type { Session } from '../postgres/pool.ts'
import type { StoredProgress } from './persons-store.ts'

/** Reads the row, which begins at the start of the journal `epoch` when there is none. */
export async function readProgress(session: Session, epoch: string): Promise<StoredProgress> {
  await session.query('insert into persons_progress (epoch) values ($1) on conflict do nothing', [epoch])
  const { rows } = await session.query<{
    epoch: string
    realtime_position: Position // written from Positions
    realtime_index: number
    historical_position: Position
    historical_index: number
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
    changes: { epoch: row.change_epoch, seq: row.change_seq },
  }
}

/**
 * Moves the row along within the running transaction.
 * Errors: store_fenced when it is not at `from`: another consumer was at work.
 */
export async function moveProgress(
  session: Session,
  epoch: string,
  from: Offsets,
  to: Offsets,
): Promise<void> {
  const numbers = [from, to].flatMap((offsets) =>
    lanes.flatMap((lane) => [offsets[lane].position, offsets[lane].index]),
  )
  const { rowCount } = await session.query(
    `update persons_progress set realtime_position = $6, realtime_index = $7, historical_position = $8,
       historical_index = $9
     where epoch = $1 and realtime_position = $2 and realtime_index = $3 and historical_position = $4
       and historical_index = $5`,
    [epoch, ...numbers],
  )
  if (rowCount === 1) return
  const detail = 'another consumer has moved the persons along; this one reads again where they stand'
  throw new ServiceError('store_fenced', { detail })
}

/**
 * Holds the store against the journal. Returns null when consuming can go on, or the reason why it cannot.
 * Errors: lineage_foreign when the store was made from another journal, or from more of this one than there is.
 */
export function checkProgress(
  { epoch, offsets }: Pick<StoredProgress, 'epoch' | 'offsets'>,
  journal: JournalState,
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
  }
  return null
}

/** True when nothing lies between the two. */
export function sameOffsets(left: Offsets, right: Offsets): boolean {
  return lanes.every((lane) => sameOffset(left[lane], right[lane]))
}
