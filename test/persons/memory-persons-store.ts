// The persons' store in memory: the plain twin of the one in Postgres. A MemoryDatabase is what both a store and its
// successor after a crash see; a store is one consumer's hold on it.

import type { Marks } from '../../src/consumer/mark.ts'
import { forLanes, type Offsets, originOffset } from '../../src/consumer/offset.ts'
import { ServiceError } from '../../src/errors.ts'
import type {
  LaneGap,
  PersonsStep,
  PersonsStore,
  SetAsideEvent,
  StoredProgress,
} from '../../src/persons/persons-store.ts'
import { sameOffsets } from '../../src/persons/progress.ts'
import { MemoryStore } from '../identity/memory-store.ts'

export class MemoryDatabase {
  readonly tables: MemoryStore
  readonly gaps: LaneGap[] = []
  readonly setAside: SetAsideEvent[] = []
  epoch: string | null = null
  offsets: Offsets = forLanes(() => originOffset)
  marks: Marks = forLanes(() => null)
  holder: MemoryPersonsStore | null = null

  constructor(...projectIds: number[]) {
    this.tables = new MemoryStore(...projectIds)
  }
}

export class MemoryPersonsStore implements PersonsStore {
  readonly changes = null
  /** Nobody keeps copies of it. */
  readonly touched = null
  readonly #database: MemoryDatabase

  constructor(database: MemoryDatabase) {
    this.#database = database
  }

  async take(epoch: string): Promise<StoredProgress> {
    const { holder } = this.#database
    if (holder !== null && holder !== this) throw new ServiceError('store_fenced')
    this.#database.holder = this
    this.#database.epoch ??= epoch
    const { offsets, marks } = this.#database
    return { epoch: this.#database.epoch, offsets, marks, changes: null }
  }

  async apply({ from, to, marks, inputs, gaps, setAside, spikes }: PersonsStep): Promise<boolean> {
    const database = this.#database
    if (!sameOffsets(from, database.offsets)) {
      database.holder = null
      throw new ServiceError('store_fenced')
    }
    database.tables.step(inputs)
    database.tables.warn(spikes)
    database.gaps.push(...gaps)
    database.setAside.push(...setAside)
    database.offsets = to
    database.marks = forLanes((lane) => marks[lane] ?? database.marks[lane])
    return true
  }

  async close(): Promise<void> {
    if (this.#database.holder === this) this.#database.holder = null
  }
}
