// The frames of one group commit, laid out for one writev. Headers and short bodies are copied into one staging
// buffer; long ones are written from where they are. A copy of 32 KiB costs less than one more buffer in the call.

import { assert } from '../lib/assert.ts'
import { alignTo8, formatBytes } from '../lib/bytes.ts'
import { releaseMemory } from '../release-memory.ts'
import type { DedupWindow } from './dedup-window.ts'
import type { JournalPart, RecordKind } from './journal.ts'
import { isTagged, tagBytes, tagOf } from './payload-tag.ts'
import {
  bodyBytesMax,
  checksumOn,
  duplicateBytes,
  eventCountMax,
  FrameFlag,
  frameBytes,
  frameHeaderBytes,
  groupOffsetMax,
  headerChecksum,
  kindCodes,
  writeFrameHeader,
} from './record.ts'

const stagingBytes = 1024 * 1024
const copiedBytesMax = 32 * 1024
/**
 * Keys whose slots in the window are loaded together: few enough to stay in the first cache. Node 20, ns a key of 1,000
 * in a row, caches taken by other work: 495 → 272 in a window of 3 million keys, 724 → 534 in one that is full.
 */
const touchedKeys = 64

const codeOf: Record<RecordKind, 1 | 2> = { events: kindCodes.events, command: kindCodes.command }

/** The most bytes that `chain` can take in a segment. */
export function chainBytesMax(chain: readonly JournalPart[]): number {
  assert(chain.length > 0, 'a chain has at least one part')
  let bytes = 0
  for (const part of chain) {
    const partBytes = partBytesMax(part)
    assert(partBytes <= bodyBytesMax, `a part takes at most ${formatBytes(bodyBytesMax)}`)
    assert(part.eventCount <= eventCountMax, `a part has at most ${eventCountMax} events`)
    bytes += partBytes
  }
  return bytes
}

/** The most bytes that `part` can take in a segment: duplicates are not known yet. */
export function partBytesMax(part: JournalPart): number {
  const { payload, eventCount } = part
  const keyBytes = part.dedupKeys?.byteLength ?? 0
  const ownBytes = keyBytes + duplicateBytes(eventCount) + (isTagged(payload) ? tagBytes : 0)
  return frameBytes(ownBytes + payload.byteLength)
}

export class FrameGroup {
  readonly #staging = new Uint8Array(stagingBytes)
  readonly #view = new DataView(this.#staging.buffer)
  /** Staging is used up to here; what is before #taken is in #buffers already. */
  #used = 0
  #taken = 0
  #buffers: Uint8Array[] = []
  #bytes = 0

  /** Bytes of all frames in the group. */
  get bytes(): number {
    return this.#bytes
  }

  /** True when one more frame may find no room in the staging buffer. */
  get isFull(): boolean {
    return this.#used + frameHeaderBytes + tagBytes + 3 * (copiedBytesMax + 8) > stagingBytes
  }

  clear(): void {
    this.#used = 0
    this.#taken = 0
    this.#buffers = []
    this.#bytes = 0
  }

  /** What to write, in order. The views are good until the next clear. */
  buffers(): readonly Uint8Array[] {
    this.#takeStaging()
    return this.#buffers
  }

  /** Gives the memory of long bodies back, once they are written: with them a lane held the last import for long. */
  releaseBodies(): void {
    for (const { buffer, byteLength } of this.#buffers) {
      const isWhole = buffer !== this.#staging.buffer && byteLength === buffer.byteLength
      if (isWhole && buffer instanceof ArrayBuffer) releaseMemory(buffer)
    }
  }

  /**
   * Adds one part as the frame at `position` and flags the events that `window` has seen before. Returns how many
   * events that were. The group must not be full.
   */
  add(part: JournalPart, position: number, salt: number, chainGoesOn: boolean, window: DedupWindow): number {
    const { payload, eventCount } = part
    const keys = part.dedupKeys
    let flags = chainGoesOn ? FrameFlag.chainGoesOn : 0
    let duplicates: Uint8Array | null = null
    let duplicateCount = 0
    let hasKeys = false
    if (keys !== null) {
      for (let event = 0; event < eventCount; event++) {
        if (event % touchedKeys === 0) window.touch(keys, event, Math.min(eventCount, event + touchedKeys))
        const low = keys[2 * event]!
        const high = keys[2 * event + 1]!
        if (low === 0 && high === 0) continue
        hasKeys = true
        if (!window.seenOrAdd(low, high)) continue
        duplicates ??= new Uint8Array(duplicateBytes(eventCount))
        duplicates[event >>> 3]! |= 1 << (event & 7)
        duplicateCount++
      }
    }
    let bodyBytes = payload.byteLength
    if (hasKeys) flags |= FrameFlag.keys
    if (hasKeys) bodyBytes += eventCount * 8
    if (duplicates !== null) flags |= FrameFlag.duplicates
    if (duplicates !== null) bodyBytes += duplicates.byteLength
    const tag = isTagged(payload) ? tagOf(payload) : null
    if (tag !== null) flags |= FrameFlag.tagged
    if (tag !== null) bodyBytes += tagBytes

    const header = this.#used
    assert(this.#bytes < groupOffsetMax, 'a frame starts less than 128 MiB behind the start of its group')
    this.#used += frameHeaderBytes
    writeFrameHeader(
      this.#view,
      header,
      bodyBytes,
      position,
      codeOf[part.kind],
      flags,
      eventCount,
      this.#bytes,
    )
    let checksum = headerChecksum(this.#staging, header, salt)
    if (hasKeys && keys !== null)
      checksum = this.#put(new Uint8Array(keys.buffer, keys.byteOffset, eventCount * 8), checksum)
    if (duplicates !== null) checksum = this.#put(duplicates, checksum)
    if (tag !== null) checksum = this.#put(tag, checksum)
    this.#place(payload)
    if (tag === null) checksum = checksumOn(payload, checksum)
    this.#view.setUint32(header, checksum, true)
    const padding = alignTo8(bodyBytes) - bodyBytes
    this.#staging.fill(0, this.#used, this.#used + padding)
    this.#used += padding
    this.#bytes += frameBytes(bodyBytes)
    return duplicateCount
  }

  /** Goes on with `checksum` over what is placed. */
  #put(bytes: Uint8Array, checksum: number): number {
    this.#place(bytes)
    return checksumOn(bytes, checksum)
  }

  #place(bytes: Uint8Array): void {
    if (bytes.byteLength <= copiedBytesMax) {
      this.#staging.set(bytes, this.#used)
      this.#used += bytes.byteLength
    } else {
      this.#takeStaging()
      this.#buffers.push(bytes)
    }
  }

  #takeStaging(): void {
    if (this.#used > this.#taken) this.#buffers.push(this.#staging.subarray(this.#taken, this.#used))
    this.#taken = this.#used
  }
}
