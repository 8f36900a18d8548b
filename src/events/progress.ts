// The store's own account of how far it is: rows of `progress`, written with the events they speak of.

import type { DuckDBConnection } from '@duckdb/node-api'
import type { Offset, Offsets, Positions } from '../consumer/offset.ts'
import { forLanes, laneNumbers, originOffset } from '../consumer/offset.ts'
import { ServiceError } from '../errors.ts'
import type { JournalGap, JournalState, Lane, Position } from '../journal/journal.ts'
import { lanes } from '../journal/journal.ts'

export interface Counts {
  readonly events: number
  readonly duplicates: number
  readonly quarantined: number
}

/** What the store says of itself while it runs. */
export interface EventsState {
  /** True when reads are answered. */
  readonly isReady: boolean
  /** Why loading does not go on; null while it does. */
  readonly reason: string | null
  readonly applied: Positions
  /** Everything before it is safe without the journal; null before the first checkpoint of this run. */
  readonly checkpointed: Positions | null
  /** Bytes of journal that are committed and not applied. */
  readonly lagBytes: Readonly<Record<Lane, number>>
  /** Over the store's whole life. */
  readonly counts: Counts
  readonly lastTransaction: { readonly rows: number; readonly ms: number } | null
}

/** What a store knows of the journal it was loaded from. */
export interface Stored {
  /** Lineage of that journal; null while nothing was loaded. */
  readonly epoch: string | null
  readonly offsets: Offsets
  /** Over the store's whole life. */
  readonly counts: Counts
}

export async function readStored(connection: DuckDBConnection): Promise<Stored> {
  const reader = await connection.runAndReadAll(`
    select epoch::varchar, lane, max({'position': position, 'index': index}), sum(event_count), sum(duplicate_count),
      sum(quarantine_count)
    from progress group by all order by lane`)
  const rows = reader.getRowsJson()
  const epochs = new Set(rows.map((row) => row[0]))
  if (epochs.size > 1) {
    const detail = `the events store holds events of ${epochs.size} journals: ${[...epochs].join(', ')}`
    throw new ServiceError('lineage_foreign', { detail })
  }
  const offsets = forLanes((lane): Offset => {
    const row = rows.find((one) => one[1] === laneNumbers[lane])
    if (row === undefined) return originOffset
    // The third column is the struct above; BIGINTs are printed as text.
    const { position, index } = row[2] as { position: string; index: number }
    return { position: Number(position) as Position, index } // written as a Position
  })
  const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0)
  return {
    epoch: rows.length === 0 ? null : String(rows[0]?.[0]),
    offsets,
    counts: { events: sum(3), duplicates: sum(4), quarantined: sum(5) },
  }
}

/** Appends one lane's progress to the running transaction. */
export async function writeProgress(
  connection: DuckDBConnection,
  epoch: string,
  lane: Lane,
  offset: Offset,
  counts: Counts,
  atMicros: number,
): Promise<void> {
  await connection.run(
    `insert into progress values ($1::uuid, $2::utinyint, $3::bigint, $4::uinteger, $5::uinteger, $6::uinteger,
      $7::uinteger, make_timestamptz($8::bigint))`,
    [
      epoch,
      laneNumbers[lane],
      BigInt(offset.position),
      offset.index,
      counts.events,
      counts.duplicates,
      counts.quarantined,
      BigInt(atMicros),
    ],
  )
}

/** Appends a damaged stretch that the loader passes over to the running transaction. */
export async function writeGap(
  connection: DuckDBConnection,
  lane: Lane,
  gap: JournalGap,
  atMicros: number,
): Promise<void> {
  await connection.run(
    'insert into gap values ($1::utinyint, $2::bigint, $3::bigint, make_timestamptz($4::bigint))',
    [laneNumbers[lane], BigInt(gap.position), BigInt(gap.end), BigInt(atMicros)],
  )
}

/**
 * Holds the store against the journal. Returns null when loading can go on, or the reason why it cannot.
 * Errors: lineage_foreign when the store was loaded from another journal, or from more of this one than there is.
 */
export function checkLineage(stored: Stored, journal: JournalState): string | null {
  if (stored.epoch !== null && stored.epoch !== journal.epoch) {
    const detail =
      `the events store was loaded from journal ${stored.epoch}, the journal here is ${journal.epoch}. ` +
      'Remedy: put back the journal folder that belongs to events.duckdb, or move events.duckdb away'
    throw new ServiceError('lineage_foreign', { detail })
  }
  for (const lane of lanes) {
    const { position, index } = stored.offsets[lane]
    const { oldest, committed } = journal.lanes[lane]
    if (position > committed || (position === committed && index > 0)) {
      const detail =
        `the events store has loaded the ${lane} lane up to ${position}, the journal ends at ${committed}: it was ` +
        'restored or cut. Remedy: put back the journal folder that belongs to events.duckdb'
      throw new ServiceError('lineage_foreign', { detail })
    }
    if (position < oldest)
      return (
        `the journal's ${lane} lane begins at ${oldest}, the events store needs it from ${position}: ` +
        'restore a newer backup of events.duckdb'
      )
  }
  return null
}
