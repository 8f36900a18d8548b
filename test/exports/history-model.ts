// What a person would say should be where at the end of a history of exports (history.ts).

import { uuidOf } from '../events/make-batch.ts'
import type { LedgerKind } from './ledger.ts'
import { minuteMs, noonMs, type RunRow } from './world.ts'

export const hourMinutes = 60

interface ModelledEvent {
  readonly uuid: string
  readonly person: number
  /** When it was stored. */
  readonly minute: number
  isDeleted: boolean
}

/** Of all histories of this process: one may export the hours of those before it once more. */
const events: ModelledEvent[] = []
let personCount = 0

export class ModelledExport {
  readonly id: string
  readonly kind: LedgerKind
  /** Minutes at which the hours begin that are to arrive. */
  readonly wanted = new Set<number>()
  #pausedAt: number | null = null

  constructor(id: string, kind: LedgerKind) {
    this.id = id
    this.kind = kind
  }

  get isPaused(): boolean {
    return this.#pausedAt !== null
  }

  pause(minute: number): void {
    this.#pausedAt = minute
  }

  /** Returns since when it was paused. */
  unpause(minute: number, isBackfilling: boolean): { readonly from: number } {
    const from = this.#pausedAt ?? minute
    this.#pausedAt = null
    if (isBackfilling) this.want(from, minute)
    return { from }
  }

  /** Every whole hour that the span touches and that has ended by its end. */
  want(start: number, end: number): void {
    for (let hour = hourOf(start); hour + hourMinutes <= end; hour += hourMinutes) this.wanted.add(hour)
  }

  pass(from: number, to: number): void {
    if (!this.isPaused) this.want(hourOf(from), to)
  }
}

export class HistoryModel {
  readonly exports: ModelledExport[] = []
  readonly #persons = [++personCount, ++personCount, ++personCount]
  minute: number

  constructor(minute: number) {
    this.minute = minute
  }

  begin(id: string, kind: LedgerKind): void {
    this.exports.push(new ModelledExport(id, kind))
  }

  end(one: ModelledExport): void {
    this.exports.splice(this.exports.indexOf(one), 1)
  }

  pass(minutes: number): void {
    for (const one of this.exports) one.pass(this.minute, this.minute + minutes)
    this.minute += minutes
  }

  bornId(place: number): string {
    return bornIdOf(this.#persons[place]!)
  }

  /** Stores so many events of one of three persons and returns the number of the first. */
  store(count: number, place: number): number {
    const first = events.length + 1
    const person = this.#persons[place]!
    for (let left = count; left > 0; left--)
      events.push({ uuid: uuidOf(events.length + 1), person, minute: this.minute, isDeleted: false })
    return first
  }

  /** Deletes the person of an event. Returns the id that its events were born to; what comes is born to another. */
  deleteEventsLike(uuid: string): string {
    const person = events.find((event) => event.uuid === uuid)?.person ?? 0
    for (const event of events) if (event.person === person) event.isDeleted = true
    const at = this.#persons.indexOf(person)
    if (at >= 0) this.#persons[at] = ++personCount
    return bornIdOf(person)
  }

  /** Hours that are wanted and that no run has completed. */
  incomplete(runs: readonly RunRow[]): { readonly one: ModelledExport; readonly start: number }[] {
    return this.exports.flatMap((one) =>
      [...one.wanted].flatMap((start) => {
        const isComplete = runs.some(
          (run) => run.batch_export_id === one.id && run.status === 'Completed' && isOfHour(run, start),
        )
        return isComplete ? [] : [{ one, start }]
      }),
    )
  }

  /** What is wrong with what an export has brought. */
  faultsOf(one: ModelledExport, counts: ReadonlyMap<string, number>): string[] {
    const faults: string[] = []
    const known = new Set(events.map(({ uuid }) => uuid))
    for (const uuid of counts.keys()) if (!known.has(uuid)) faults.push(`${uuid} is another's`)
    for (const { uuid, minute, isDeleted } of events) {
      const count = counts.get(uuid) ?? 0
      const isWanted = one.wanted.has(hourOf(minute))
      if (!isWanted && count > 0) faults.push(`${one.kind} has ${uuid} of an hour that it is not to take`)
      if (isWanted && count === 0 && !isDeleted) faults.push(`${one.kind} lacks ${uuid}, stored at ${minute}`)
      if (count > 1 && one.kind !== 'stream') faults.push(`${one.kind} has ${uuid} ${count} times`)
    }
    return faults
  }

  faultsOfRuns(runs: readonly RunRow[]): string[] {
    const faults: string[] = []
    const scheduled = new Set<string>()
    const boundaries = new Map<string, string>()
    for (const run of runs) {
      const { batch_export_id, data_interval_start, data_interval_end, status, backfill_id } = run
      if (run.finished_at === null) faults.push(`a run is left ${status}`)
      const interval = `${batch_export_id} ${data_interval_start}`
      if (backfill_id === null && status !== 'ContinuedAsNew') {
        if (scheduled.has(interval)) faults.push(`the schedule has two runs of ${interval}`)
        scheduled.add(interval)
      }
      for (const [moment, boundary] of [
        [data_interval_start, run.stretch_start],
        [data_interval_end, run.stretch_end],
      ] as const) {
        const place = `${batch_export_id} ${moment}`
        const known = boundaries.get(place) ?? boundary
        if (boundary !== null && known !== boundary) faults.push(`two boundaries of ${place}`)
        if (known !== null) boundaries.set(place, known)
      }
    }
    return faults
  }
}

function bornIdOf(person: number): string {
  return uuidOf(0xda0000 + person)
}

function isOfHour({ data_interval_start, data_interval_end }: RunRow, start: number): boolean {
  const at = (minute: number): number => noonMs + minute * minuteMs
  return (
    Date.parse(data_interval_start ?? '') === at(start) &&
    Date.parse(data_interval_end) === at(start + hourMinutes)
  )
}

/** The minute at which the hour of a minute began. */
function hourOf(minute: number): number {
  return Math.floor(minute / hourMinutes) * hourMinutes
}

export function momentOf(minute: number): string {
  return new Date(noonMs + minute * minuteMs).toISOString()
}
