// Captured events on their way into the journal: appends them, and tells of them once they are on disk.

import type { Journal, Position } from '../journal/journal.ts'
import type { CapturedRequest, DropReason, Remark, WarningReason } from './capture-task.ts'
import type { EncodedEvents } from './encoded-events.ts'

/** Told of all captured requests, once their events are on disk and before they are answered. */
export interface CaptureObserver {
  captured(capture: CaptureReport): void
}

/** What became of one request or, added up, of several of one project and lane. */
export interface CaptureReport {
  readonly projectId: number
  readonly eventCount: number
  readonly duplicateCount: number
  readonly historical: boolean
  /** Where the events end in their lane; null when there are none. */
  readonly end: Position | null
  /** Of the realtime identity events, 16 bytes each. */
  readonly identityBornIds: Uint8Array
  readonly decompressedBytes: number
  /** A reason may come several times, from several requests. */
  readonly drops: readonly Remark<DropReason>[]
  readonly warnings: readonly Remark<WarningReason>[]
}

export interface CaptureAppendOptions {
  readonly journal: Pick<Journal, 'append'>
  readonly observer: CaptureObserver
}

const nobody = new Uint8Array(0)

/** Appends `events`, if there are any, and resolves when they are on disk. Errors: those of the journal. */
export async function appendCaptured(
  captured: Omit<CapturedRequest, 'kind' | 'beacon'>,
  events: EncodedEvents | null,
  { journal, observer }: CaptureAppendOptions,
): Promise<void> {
  const { projectId, eventCount, historical, decompressedBytes, drops, warnings } = captured
  let duplicateCount = 0
  let end: Position | null = null
  if (events !== null) {
    const appended = await journal.append(historical ? 'historical' : 'realtime', events.chain)
    duplicateCount = appended.duplicateCount
    end = appended.end
  }
  observer.captured({
    projectId,
    eventCount,
    duplicateCount,
    historical,
    end,
    identityBornIds: events === null || historical ? nobody : events.identityBornIds,
    decompressedBytes,
    drops,
    warnings,
  })
}
