// The mirror of Postgres in the events store: whose event it is, and what kinds of groups are called (the tables say
// more, sql/duckdb/0002_mirror.sql). It is sent pages, each of which leads from one place in the outbox to the next,
// and writes a page and the place it leads to in one transaction. A page that does not begin where the mirror stands
// is not written: after any crash, and after an answer that was lost, the sender asks where to go on.
//
//   none       nothing was sent yet
//   copying    a new generation gets its base, page by page from Postgres and then the changes meanwhile, or slice by
//              slice from the generation before; reads use that one meanwhile
//   complete   changes are added
//
// CPU ms of reads of 1 M events, half of them of the project asked for; the table, the view over a base of 100,000
// overrides, and the view over that base and 100,000 changes (DuckDB 1.5.6, two cores that others use too):
//   count by name          6    32    58
//   distinct persons      24    48    90
//   page of 100 events    27    67   108
//   events of a person     4    30    67
//   sum of a property    218   271   320
//
// Ids that change often, and kinds of rows that say the same, would let the mirror grow without end. When the changes
// outnumber the base, the mirror copies itself: `tend` takes it a slice further, and then removes what was before. Both
// go on where they were after a crash. A page that comes before the copy is complete ends it: what there is of the copy
// is removed like what was before.

import type { DuckDBConnection } from '@duckdb/node-api'
import { ServiceError } from '../errors.ts'
import { killPoint } from '../kill-point.ts'
import { type Clock, microsFromMs } from '../lib/clock.ts'
import { failureOf, shortMessage } from './failure.ts'
import { type MirrorCursor, type Mirrored, type MirrorPage, sameCursor } from './mirror-page.ts'
import {
  copySlice,
  countRows,
  forgetGeneration,
  type RowCounts,
  readGenerations,
  removeOthers,
  writeChanges,
} from './mirror-rows.ts'

export interface MirrorOptions {
  readonly clock: Clock
  readonly killAt: string | null
  /** The mirror copies itself from so many changes on. */
  readonly copyChangesMin?: number
  /** Rows of a slice, about, and rows that are removed at once. */
  readonly sliceRows?: number
}

/** About 4 MB of rows: reading them takes a few ms. */
const copyChangesMinDefault = 100_000
/** About 0.2 s of work. */
const sliceRowsDefault = 250_000

/** The newest row of the table mirror. */
interface Place {
  readonly generation: number
  readonly step: number
  readonly cursor: MirrorCursor
}

export class Mirror {
  readonly #connection: DuckDBConnection
  readonly #options: Required<MirrorOptions>
  #place: Place | null
  #counts: RowCounts
  /** The greatest number of a generation that has rows; 0 when none has. */
  #generationMost: number
  /** Rows of other generations are left. */
  #isOtherLeft: boolean

  private constructor(connection: DuckDBConnection, options: MirrorOptions, stored: StoredMirror) {
    this.#connection = connection
    this.#options = { copyChangesMin: copyChangesMinDefault, sliceRows: sliceRowsDefault, ...options }
    this.#place = stored.place
    this.#counts = stored.counts
    this.#generationMost = stored.generationMost
    this.#isOtherLeft = stored.isOtherLeft
  }

  #take({ place, counts, generationMost, isOtherLeft }: StoredMirror): void {
    this.#place = place
    this.#counts = counts
    this.#generationMost = generationMost
    this.#isOtherLeft = isOtherLeft
  }

  /** Uses `connection` for every write; no other transaction may run on it meanwhile. */
  static async open(connection: DuckDBConnection, options: MirrorOptions): Promise<Mirror> {
    return new Mirror(connection, options, await readMirror(connection))
  }

  get mirrored(): Mirrored {
    const cursor = this.#place?.cursor ?? null
    const isTendingDue = isSlice(cursor) || (cursor?.rest === null && (this.#isCopyDue || this.#isOtherLeft))
    return { cursor, isTendingDue }
  }

  /**
   * Takes a page, unless it begins elsewhere than the mirror stands.
   * Errors: events_unavailable when it was not written and may be later; storage_failed when the store is lost.
   */
  async apply({ from, to, isAnew, changes }: MirrorPage): Promise<Mirrored> {
    await this.#giveUpCopy(from)
    const cursor = this.#place?.cursor ?? null
    if (!sameCursor(from, cursor)) return this.mirrored
    const generation = isAnew || this.#place === null ? this.#generationMost + 1 : this.#place.generation
    // Rows of a base come at the place where it was begun.
    const isBase = isAnew || to.seq === from?.seq
    const write = () => writeChanges(this.#connection, generation, changes, isBase)
    await this.#write(generation, to, isBase, write)
    return this.mirrored
  }

  /** Does a part of the upkeep that is due. Errors: as `apply`. */
  async tend(): Promise<Mirrored> {
    if (this.#place === null) return this.mirrored
    const { generation, cursor } = this.#place
    const slice = sliceOf(cursor)
    if (slice !== null) await this.#copy(generation, cursor, slice)
    else if (cursor.rest === null && this.#isOtherLeft) {
      await this.#guarded(async () => {
        this.#isOtherLeft = await removeOthers(this.#connection, generation, this.#options.sliceRows)
      })
    } else if (cursor.rest === null && this.#isCopyDue) {
      const { base, changes } = this.#counts
      const slices = Math.ceil((base + changes) / this.#options.sliceRows)
      await this.#write(
        this.#generationMost + 1,
        { ...cursor, rest: sliceText(0, slices) },
        true,
        async () => 0,
      )
    }
    return this.mirrored
  }

  /** Copying when the changes outnumber the base keeps the work in proportion to what was written. */
  get #isCopyDue(): boolean {
    const { base, changes } = this.#counts
    return changes >= this.#options.copyChangesMin && changes >= base
  }

  async #copy(generation: number, cursor: MirrorCursor, { slice, slices }: Slice): Promise<void> {
    const rest = slice + 1 < slices ? sliceText(slice + 1, slices) : null
    await this.#write(generation, { ...cursor, rest }, true, async () => {
      const reader = await this.#connection.runAndReadAll(
        'select max(generation) from mirror where rest is null',
      )
      return await copySlice(this.#connection, Number(reader.getRows()[0]?.[0]), generation, slice, slices)
    })
  }

  /** Goes back to the generation that is copied, when that is the place `from`. */
  async #giveUpCopy(from: MirrorCursor | null): Promise<void> {
    const place = this.#place
    if (place === null || !isSlice(place.cursor) || !sameCursor(from, { ...place.cursor, rest: null })) return
    await this.#guarded(async () => {
      await forgetGeneration(this.#connection, place.generation)
      this.#take(await readMirror(this.#connection))
    })
  }

  /** Runs `write`, which returns how many overrides it wrote, and moves the mirror to `cursor`, in one transaction. */
  async #write(
    generation: number,
    cursor: MirrorCursor,
    isBase: boolean,
    write: () => Promise<number>,
  ): Promise<void> {
    const { clock, killAt } = this.#options
    const isNew = this.#place?.generation !== generation
    const step = isNew ? 0 : (this.#place?.step ?? 0) + 1
    const counts = isNew ? { base: 0, changes: 0 } : this.#counts
    await this.#guarded(async () => {
      await this.#connection.run('begin')
      const count = await write()
      await this.#connection.run(
        `insert into mirror values ($1::integer, $2::bigint, $3::uuid, $4::bigint, $5::uuid, $6::varchar,
           make_timestamptz($7::bigint))`,
        [generation, step, cursor.epoch, cursor.seq, cursor.mark, cursor.rest, microsFromMs(clock.nowMs())],
      )
      const commit = this.#connection.run('commit')
      killPoint(killAt, 'in_mirror_commit')
      await commit
      killPoint(killAt, 'after_mirror_commit')
      this.#place = { generation, step, cursor }
      this.#counts = isBase
        ? { ...counts, base: counts.base + count }
        : { ...counts, changes: counts.changes + count }
    })
    this.#isOtherLeft ||= isNew && generation > 1
    this.#generationMost = Math.max(this.#generationMost, generation)
  }

  /** After an error nothing is taken for granted: where the mirror stands is read again. */
  async #guarded(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      const detail = shortMessage(error)
      if (failureOf(error) === 'fatal') throw new ServiceError('storage_failed', { detail, cause: error })
      // Refused when the failure has already ended the transaction, which is as good.
      await this.#connection.run('rollback').catch(() => null)
      await this.#readAgain(detail)
      throw new ServiceError('events_unavailable', { detail, cause: error })
    }
  }

  /** Errors: storage_failed. Not knowing where the mirror stands, nothing may be added: the next start reads it. */
  async #readAgain(failure: string): Promise<void> {
    try {
      this.#take(await readMirror(this.#connection))
    } catch (cause) {
      const detail = `${failure}; then the mirror could not be read: ${shortMessage(cause)}`
      throw new ServiceError('storage_failed', { detail, cause })
    }
  }
}

interface StoredMirror {
  readonly place: Place | null
  readonly counts: RowCounts
  readonly generationMost: number
  readonly isOtherLeft: boolean
}

async function readMirror(connection: DuckDBConnection): Promise<StoredMirror> {
  const reader = await connection.runAndReadAll(
    `select generation, step::double, epoch::varchar, seq::double, mark::varchar, rest
     from mirror order by generation desc, step desc limit 1`,
  )
  const row = reader.getRowsJS()[0]
  const generations = await readGenerations(connection)
  const generationMost = generations?.most ?? 0
  if (row === undefined)
    return { place: null, counts: { base: 0, changes: 0 }, generationMost, isOtherLeft: false }
  const [generation, step, epoch, seq, mark, rest] = row
  const place: Place = {
    generation: Number(generation),
    step: Number(step),
    cursor: {
      epoch: String(epoch),
      seq: Number(seq),
      mark: mark === null ? null : String(mark),
      rest: rest === null ? null : String(rest),
    },
  }
  return {
    place,
    counts: await countRows(connection, place.generation),
    generationMost,
    isOtherLeft: generations?.least !== place.generation || generationMost !== place.generation,
  }
}

/** Part of a generation that is copied from the one before. */
interface Slice {
  readonly slice: number
  readonly slices: number
}

function sliceText(slice: number, slices: number): string {
  return `slice ${slice} of ${slices}`
}

function isSlice(cursor: MirrorCursor | null): boolean {
  return cursor !== null && sliceOf(cursor) !== null
}

/** Null for a cursor that copies nothing, or copies from Postgres. */
function sliceOf({ rest }: MirrorCursor): Slice | null {
  const [, slice, slices] = /^slice (\d+) of (\d+)$/.exec(rest ?? '') ?? []
  return slice === undefined || slices === undefined ? null : { slice: Number(slice), slices: Number(slices) }
}
