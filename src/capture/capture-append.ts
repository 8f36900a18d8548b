// Captured events on their way into the journal: appends them, and tells of them once they are on disk.

import type { Journal, JournalPart, Position } from '../journal/journal.ts'
import type { CapturedRequest, DropReason, EncodedPart, Remark, WarningReason } from './capture-task.ts'

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

/** Appends the events of `parts`, if any, and resolves when they are on disk. Errors: those of the journal. */
export async function appendCaptured(
  captured: Omit<CapturedRequest, 'kind' | 'beacon'>,
  encoded: readonly EncodedPart[],
  { journal, observer }: CaptureAppendOptions,
): Promise<void> {
  const { projectId, eventCount, historical, decompressedBytes, drops, warnings } = captured
  let duplicateCount = 0
  let end: Position | null = null
  const identityBornIds = historical ? [] : encoded.map((part) => part.identityBornIds)
  if (encoded.length > 0) {
    const parts: JournalPart[] = encoded.map(({ payload, eventCount, dedupKeys }) => ({
      kind: 'events',
      payload,
      eventCount,
      dedupKeys,
    }))
    const appended = await journal.append(historical ? 'historical' : 'realtime', parts)
    duplicateCount = appended.duplicateCount
    end = appended.end
  }
  observer.captured({
    projectId,
    eventCount,
    duplicateCount,
    historical,
    end,
    identityBornIds: identityBornIds.length === 1 ? identityBornIds[0]! : Buffer.concat(identityBornIds),
    decompressedBytes,
    drops,
    warnings,
  })
}
