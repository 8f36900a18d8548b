// What the main thread and the persons thread say to each other: plain values both ways.

import type { JournalState } from '../journal/journal.ts'
import type { StepOutcome } from './consumer.ts'

export interface OpenTask {
  readonly kind: 'open'
  readonly connectionString: string
  readonly journalDir: string
  readonly quarantineDir: string
  readonly spikeEventsPerSecond: number
  readonly killAt: string | null
}

export interface StepTask {
  readonly kind: 'step'
  /** As of now. */
  readonly journal: JournalState
}

/** What the thread does, with the answer each gets. */
export interface PersonsTasks {
  open: [task: OpenTask, answer: null]
  step: [task: StepTask, answer: StepOutcome]
  close: [task: { readonly kind: 'close' }, answer: null]
}

export type PersonsTask = PersonsTasks[keyof PersonsTasks][0]
