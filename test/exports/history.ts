// Random histories of exports against a plain model: every event of an interval that an export is to take arrives at
// its destination exactly once (at one that only adds: at least once), whatever comes late, twice or out of order, and
// whatever fails, is paused, cancelled, changed, restarted, killed between any two steps and exported once more.

import { createRandom, type Random } from '../../bench/random.ts'
import { DeliveryError } from '../../src/exports/delivery.ts'
import { plainRows, type RowInput } from '../events/make-batch.ts'
import { until } from '../support/until.ts'
import { HistoryModel, hourMinutes, type ModelledExport, momentOf } from './history-model.ts'
import { destinationOf, type LedgerKind, type Ledgers, ledgerKinds, type Step, uuidsOf } from './ledger.ts'
import type { MortalPostgres } from './mortal-postgres.ts'
import { type ExportsWorld, minuteMs, noonMs } from './world.ts'

const stepsMax = 30
/** Statements of the process that is killed: some runs of three exports. */
const statementsMax = 120
/** Of what has ended badly: nothing is in the way by then. */
const repairsMax = 10

/** What a history is played on; the next one goes on where it ended. */
export interface HistoryStage {
  readonly world: ExportsWorld
  readonly postgres: MortalPostgres
  readonly ledgers: Ledgers
}

/** Plays the history of a seed and returns what was not as it should be, in words. */
export async function playHistory(stage: HistoryStage, seed: number): Promise<string[]> {
  const history = new History(stage, seed)
  try {
    await history.play()
    return await history.faults()
  } catch (error) {
    throw new Error(`history ${seed} after ${history.told.join(', ')}`, { cause: error })
  }
}

class History {
  /** What has happened, for whoever looks for the cause. */
  readonly told: string[] = []
  readonly #stage: HistoryStage
  readonly #random: Random
  readonly #model: HistoryModel
  readonly #kinds: readonly LedgerKind[]
  #armed: ((step: Step) => Promise<void>) | null = null
  #last: { readonly rows: readonly RowInput[]; readonly isHistorical: boolean } | null = null

  constructor(stage: HistoryStage, seed: number) {
    this.#stage = stage
    this.#random = createRandom(seed, 0xe)
    // Exports of every kind beside each other now and then: a run costs more than all else.
    const kind = ledgerKinds[(seed % 4) - 1]
    this.#kinds = kind === undefined ? ledgerKinds : [kind]
    this.#model = new HistoryModel(Math.round((stage.world.nowMs - noonMs) / minuteMs))
    for (const kind of ledgerKinds) stage.ledgers[kind].onStep = (step) => this.#onStep(step)
  }

  async play(): Promise<void> {
    await this.#stage.world.postgres.query('delete from batch_export')
    for (const kind of this.#kinds) await this.#begin(kind)
    const happenings = [
      ...Array(6).fill(() => this.#ingest()),
      ...Array(5).fill(() => this.#pass()),
      ...Array(3).fill(() => this.#settle()),
      ...Array(3).fill(() => this.#fail()),
      ...Array(2).fill(() => this.#crash()),
      () => this.#again(),
      ...Array(2).fill(() => this.#restart()),
      ...Array(2).fill(() => this.#change()),
      ...Array(2).fill(() => this.#deleteEvents()),
      () => this.#pause(),
      () => this.#unpause(),
      () => this.#cancel(),
      () => this.#retry(),
      () => this.#backfill(),
      () => this.#replaceExport(),
    ] as const
    for (let step = 0; step < stepsMax; step++) await this.#random.pick(happenings)()
    await this.#repair()
  }

  /** Judges the end, once everything was repaired. */
  async faults(): Promise<string[]> {
    const { world, ledgers } = this.#stage
    const faults = ledgerKinds.flatMap((kind) => ledgers[kind].faults.splice(0))
    for (const one of this.#model.exports)
      faults.push(...this.#model.faultsOf(one, ledgers[one.kind].countsOf(one.id)))
    faults.push(...this.#model.faultsOfRuns(await world.runs()))
    return faults.map((fault) => `${fault} (${this.told.join(', ')})`)
  }

  async #onStep(step: Step): Promise<void> {
    // What is dead delivers nothing.
    if (this.#stage.postgres.isDead) throw new DeliveryError('temporary', 'The process is dead.')
    await this.#armed?.(step)
  }

  async #begin(kind: LedgerKind): Promise<void> {
    this.#model.begin(await this.#stage.world.makeExport(destinationOf(kind)), kind)
  }

  async #ingest(): Promise<void> {
    const random = this.#random
    const { world } = this.#stage
    const isHistorical = random.next() < 0.25
    const isOurs = random.next() > 0.1
    const count = 1 + random.below(8)
    const person = random.below(3)
    const first = this.#model.store(isOurs ? count : 0, person)
    const rows = plainRows(isOurs ? first : 0xf000, count).map((row) => ({
      ...row,
      bornId: this.#model.bornId(person),
      timestampMicros: (world.nowMs - random.pick([0, 1, 90, 100_000]) * minuteMs) * 1000,
    }))
    this.told.push(`${count} events${isHistorical ? ', historical' : ''}${isOurs ? '' : ", another's"}`)
    const lane = isHistorical ? 'historical' : 'realtime'
    await world.ingest({ projectId: isOurs ? 1 : 3, historical: isHistorical, rows }, lane)
    if (isOurs) this.#last = { rows, isHistorical }
  }

  /** The last request once more, which the journal knows. */
  async #again(): Promise<void> {
    if (this.#last === null) return
    const { rows, isHistorical } = this.#last
    this.told.push('the same again')
    const lane = isHistorical ? 'historical' : 'realtime'
    const all = rows.map((_, index) => index)
    await this.#stage.world.ingest({ historical: isHistorical, rows }, lane, all)
  }

  async #pass(): Promise<void> {
    const minutes = this.#random.pick([1, 29, 30, 60, 150])
    this.told.push(`${minutes} minutes`)
    this.#model.pass(minutes)
    this.#stage.world.at(this.#model.minute)
  }

  /** The next chunks of a number fail, before they are kept or after. */
  async #fail(): Promise<void> {
    const random = this.#random
    const [index, isKept] = [random.below(3), random.next() < 0.5]
    const kind = random.pick(['temporary', 'temporary', 'permanent'] as const)
    let left = 1 + random.below(3)
    this.told.push(`${left} ${kind} failures ${isKept ? 'after' : 'before'} chunk ${index}`)
    this.#armed = async (step) => {
      if (step.chunk.index === index && step.isKept === isKept && left-- > 0)
        throw new DeliveryError(kind, 'Not now.')
    }
  }

  /** The next chunk of an export meets `then` on its way. */
  #atNextChunk(one: ModelledExport, then: (step: Step) => Promise<unknown>): void {
    const isKept = this.#random.next() < 0.5
    this.#armed = async (step) => {
      if (step.subject.exportId !== one.id || step.isKept !== isKept) return
      this.#armed = null
      await then(step)
    }
  }

  async #cancel(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    this.told.push(`cancel ${one.kind}`)
    this.#atNextChunk(one, () =>
      this.#stage.world.postgres.query(
        `update batch_export_run set status = 'Cancelled', finished_at = to_timestamp($2)
         where batch_export_id = $1 and started_at is not null and finished_at is null`,
        [one.id, this.#stage.world.nowMs / 1000],
      ),
    )
  }

  /** Takes the same events, and is changed: what it has delivered of a run does not go with the rest. */
  async #change(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    const include = this.#random.next() < 0.5 ? ['viewed'] : null
    this.told.push(`change ${one.kind}`)
    this.#atNextChunk(one, async () => {
      await this.#stage.world.postgres.query(
        'update batch_export set destination_config = destination_config || $2 where id = $1',
        [one.id, JSON.stringify({ include_events: include })],
      )
      throw new DeliveryError('temporary', 'Not now.')
    })
  }

  /** The person is deleted, with its events, whose event a chunk begins with. */
  async #deleteEvents(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    this.told.push(`delete a person at a chunk of ${one.kind}`)
    this.#atNextChunk(one, async ({ chunk }) => {
      await this.#stage.world.deleteEventsOf(this.#model.deleteEventsLike(uuidsOf(chunk)[0] ?? ''))
      throw new DeliveryError('temporary', 'Not now.')
    })
  }

  async #pause(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    if (one.isPaused) return
    this.told.push(`pause ${one.kind}`)
    one.pause(this.#model.minute)
    await this.#setPaused(one)
  }

  async #unpause(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    if (!one.isPaused) return
    const isBackfilling = this.#random.next() < 0.7
    this.told.push(`unpause ${one.kind}${isBackfilling ? ' with backfill' : ''}`)
    const { from } = one.unpause(this.#model.minute, isBackfilling)
    await this.#setPaused(one)
    if (isBackfilling) await this.#stage.world.backfill(one.id, momentOf(from), momentOf(this.#model.minute))
    // Only the last pause is remembered until somebody looks.
    await this.#stage.world.exports.tick()
  }

  async #setPaused({ id, isPaused }: ModelledExport): Promise<void> {
    const sql = 'update batch_export set paused = $2, last_updated_at = to_timestamp($3) where id = $1'
    await this.#stage.world.postgres.query(sql, [id, isPaused, this.#stage.world.nowMs / 1000])
  }

  async #retry(): Promise<void> {
    const ended = (await this.#stage.world.runs()).filter(({ finished_at }) => finished_at !== null)
    if (ended.length === 0) return
    const run = this.#random.pick(ended)
    this.told.push(`retry ${run.data_interval_end}`)
    await this.#stage.world.backfill(run.batch_export_id, run.data_interval_start, run.data_interval_end)
  }

  async #backfill(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    const end = Math.floor(this.#model.minute / hourMinutes) * hourMinutes
    const start = end - (1 + this.#random.below(3)) * hourMinutes
    this.told.push(`backfill ${one.kind} from ${start}`)
    one.want(start, end)
    await this.#stage.world.backfill(one.id, momentOf(start), momentOf(end))
  }

  async #replaceExport(): Promise<void> {
    const one = this.#random.pick(this.#model.exports)
    this.told.push(`delete ${one.kind}`)
    this.#model.end(one)
    await this.#stage.world.postgres.query('delete from batch_export where id = $1', [one.id])
    await this.#begin(one.kind)
  }

  /** Time may pass meanwhile, and an export be paused before anybody has looked what is due. */
  async #restart(): Promise<void> {
    this.told.push('restart')
    await this.#stage.world.exports.close()
    if (this.#random.next() < 0.5) await this.#pass()
    if (this.#random.next() < 0.5) await this.#pause()
    await this.#stage.world.restart()
  }

  /** The process is killed at a step, or lives on where nothing is left to do. */
  async #crash(): Promise<void> {
    const { world, postgres } = this.#stage
    const statements = this.#random.below(statementsMax)
    this.told.push(`crash after ${statements}`)
    postgres.dieAfter(statements)
    await until(async () => {
      await world.exports.tick().catch(() => {}) // dead
      return postgres.isDead || (await world.isSettled())
    })
    if (postgres.isDead) await world.restart(() => postgres.dieAfter(Number.POSITIVE_INFINITY))
    else postgres.dieAfter(Number.POSITIVE_INFINITY)
  }

  /** Waits until nothing is open; jobs do not wait for their time. */
  async #settle(): Promise<void> {
    const { world } = this.#stage
    await until(async () => {
      await world.exports.tick()
      await world.hurry()
      return await world.isSettled()
    }, 60_000)
  }

  /** Ends the last hour with nothing in the way, and retries what has ended badly, as somebody would. */
  async #repair(): Promise<void> {
    this.#armed = null
    const { world } = this.#stage
    this.#model.pass(hourMinutes - (this.#model.minute % hourMinutes))
    world.at(this.#model.minute)
    for (let repairs = 0; repairs < repairsMax; repairs++) {
      await this.#settle()
      const missing = this.#model.incomplete(await world.runs())
      if (missing.length === 0) return
      for (const { one, start } of missing)
        await world.backfill(one.id, momentOf(start), momentOf(start + hourMinutes))
    }
    throw new Error('what has failed cannot be repaired')
  }
}
