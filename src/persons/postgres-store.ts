// The persons in Postgres. The store is one session: it holds an advisory lock, which a second consumer does not get,
// and every step moves the progress row from where this consumer left it, so that one that got the lock all the same
// (a pooler between, a failed-over server) changes nothing.
//
// After any error the session is closed and what was remembered is forgotten: the next `take` learns from the
// database what is true. That covers a COMMIT whose answer was lost.

import { ServiceError } from '../errors.ts'
import type { Changes, Warning } from '../identity/changes.ts'
import { fold } from '../identity/fold.ts'
import type { Known } from '../identity/known.ts'
import { killPoint } from '../kill-point.ts'
import { assert } from '../lib/assert.ts'
import type { HeldSession, Postgres, Session } from '../postgres/pool.ts'
import { FoldError } from './failure.ts'
import { type Loaded, loadKnown } from './load.ts'
import { PersonCache } from './person-cache.ts'
import type { ChangesEnd, PersonsStep, PersonsStore, StoredProgress } from './persons-store.ts'
import { moveProgress, readProgress } from './progress.ts'
import { saveChanges } from './save.ts'
import { type Touched, touchedBy } from './touched.ts'

/** Of the pool that a store is given. A step sends the same few statements, whatever their arrays hold. */
export const storePool = { connectionsMax: 1, plansOnce: true } as const

export interface PostgresStoreOptions {
  /** Used by this store alone, and closed with it. Opened with `storePool`. */
  readonly postgres: Postgres
  readonly cacheBytesMax: number
  /** Properties that one step may load, of persons that are not in the cache. */
  readonly loadedBytesMax: number
  /** Where a crash test wants the process to end (kill-point.ts). */
  readonly killAt: string | null
}

/** Key of the session lock: "spatepsn" as a number. */
const lockKey = '8318255664299275118'

/**
 * The sets of a step are far smaller than the tables, and every join has an index: whatever the statistics say, and
 * however small a table was when a statement was planned, a step must not read a whole one.
 */
const sessionSettings = `
  select set_config(name, setting, false)
  from (values ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'), ('enable_seqscan', 'off'),
    ('random_page_cost', '1.1')) as wanted (name, setting)`

export class PostgresStore implements PersonsStore {
  readonly #options: PostgresStoreOptions
  readonly #cache: PersonCache
  #session: HeldSession | null = null
  #epoch = ''
  #changes: ChangesEnd | null = null
  #touched: Touched = null

  constructor(options: PostgresStoreOptions) {
    this.#options = options
    this.#cache = new PersonCache(options.cacheBytesMax)
  }

  get changes(): ChangesEnd | null {
    return this.#changes
  }

  get touched(): Touched {
    return this.#touched
  }

  async take(epoch: string): Promise<StoredProgress> {
    this.#giveUp()
    this.#session = await this.#options.postgres.hold()
    try {
      await this.#session.query(sessionSettings)
      await takeLock(this.#session)
      this.#epoch = epoch
      const stored = await readProgress(this.#session, epoch)
      this.#changes = stored.changes
      return stored
    } catch (error) {
      this.#giveUp()
      throw error
    }
  }

  async apply(step: PersonsStep): Promise<boolean> {
    const session = this.#session
    assert(session !== null, 'the store was taken')
    try {
      const changes = await this.#applyWithin(session, step)
      if (changes === null) return false
      this.#touched = touchedBy(changes)
      return true
    } catch (error) {
      this.#giveUp()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#giveUp()
    await this.#options.postgres.close()
  }

  /** Returns what was changed; null when the step is too large. */
  async #applyWithin(session: HeldSession, step: PersonsStep): Promise<Changes | null> {
    const { killAt } = this.#options
    await session.query('begin')
    await moveProgress(session, this.#epoch, step)
    const bytesMax = isDivisible(step) ? this.#options.loadedBytesMax : Number.POSITIVE_INFINITY
    const loaded = await loadKnown(session, this.#cache, step.inputs, bytesMax)
    if (loaded === null) {
      await session.query('rollback')
      return null
    }
    const changes = withSpikes(foldOf(loaded), loaded.known, step.spikes)
    const told = await saveChanges(session, changes)
    await saveRemarks(session, step)
    killPoint(killAt, 'in_persons_save')
    const commit = session.query('commit')
    killPoint(killAt, 'in_persons_commit')
    await commit
    killPoint(killAt, 'after_persons_commit')
    this.#changes = told ?? this.#changes
    loaded.noteSeen()
    this.#cache.apply(changes)
    return changes
  }

  #giveUp(): void {
    this.#cache.clear()
    this.#touched = null
    // Closed, not given back: the lock goes with it.
    this.#session?.release(false)
    this.#session = null
  }
}

async function takeLock(session: Session): Promise<void> {
  const { rows } = await session.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
    lockKey,
  ])
  if (rows[0]?.taken === true) return
  const detail = 'another Spate works on the persons of this database'
  throw new ServiceError('store_fenced', { detail })
}

/** Whether the step could be made smaller. */
function isDivisible({ inputs }: PersonsStep): boolean {
  let count = 0
  for (const input of inputs) count += input.kind === 'events' ? input.to - input.from : 1
  return count > 1
}

function foldOf({ known, inputs }: Loaded): Changes {
  try {
    return fold(known, inputs)
  } catch (cause) {
    throw new FoldError(cause)
  }
}

/** A project that does not exist, or not any more, gets no warning. */
function withSpikes(changes: Changes, known: Known, spikes: readonly Warning[]): Changes {
  const isThere = (id: number): boolean => known.project(id) !== null && !changes.projectsDeleted.includes(id)
  const warnings = spikes.filter(({ projectId }) => isThere(projectId))
  return { ...changes, warnings: [...changes.warnings, ...warnings] }
}

async function saveRemarks(session: Session, { gaps, setAside, nowMs }: PersonsStep): Promise<void> {
  for (const { lane, position, end } of gaps) {
    await session.query('insert into person_gap values ($1, $2, $3, to_timestamp($4))', [
      lane,
      position,
      end,
      nowMs / 1000,
    ])
  }
  for (const { lane, offset, projectId, uuid, error, file } of setAside) {
    await session.query(
      `insert into person_quarantine (project_id, uuid, lane, position, index, error, file, quarantined_at)
       values ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8))`,
      [projectId, uuid, lane, offset.position, offset.index, error, file, nowMs / 1000],
    )
  }
}
