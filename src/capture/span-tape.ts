// The spans of many events in one block of memory: what the scan of a body leaves behind and the second look at each
// event reads, so that every byte is scanned once although the envelope may name the project after the events.
//
// A record, in i32: its own size, start and end of the event, marks, number of properties, and what it says of its
// person: number of runs or -1 when that is not told, both words of the digest, 1 when no value counted (person-run);
// then what it says of single values (event-facts), as run-layout lists it.
// Then four for each known key met: key, end of what comes before its entry, start and end of its value. A record holds
// a key once. Then two for each run: where its first member begins, and its length.
//
// The tape takes what fits in its limit; events past it are scanned again when their turn comes.

import { assert } from '../lib/assert.ts'
import { fieldIndex, keyCount, lastField, mappedFirst, propertyIndex } from './event-keys.ts'
import { createHeads, type KeyHeads } from './key-heads.ts'
import { addKey, createKeySet, type KeySet } from './key-set.ts'
import { closeWindow, createRun, type KnownRun } from './known-run.ts'
import { describeKeys } from './person-run.ts'
import { entrySize, factsCell, recordHeadSize as headSize, recordSizeMax, runSize } from './run-layout.ts'

/** Marks of an event. */
export const EventMark = {
  notAnObject: 1,
  tooDeep: 2,
  /** A key may stand there twice: the event must be rewritten so that the last holds. */
  mayRepeat: 4,
} as const

export interface SpanTape {
  readonly cells: Int32Array
  /** Passes most properties, and writes to the same cells. */
  readonly run: KnownRun
  /** Where the records end, and the record being written begins. */
  used: number
  /** Where the record being written ends so far. */
  top: number
  /** Distinguishes this record's keys in `keySeen` from those before. */
  generation: number
  /** By key: the generation that met it last. */
  readonly keySeen: Int32Array
  /** Properties of the record being written. */
  propertyCount: number
  /** What events had between their values. */
  readonly fieldHeads: KeyHeads
  readonly propertyHeads: KeyHeads
}

/** A tape in the memory of `run`, as are the heads of its events. */
export function createTape(run = createRun()): SpanTape {
  const { cells, keySeen, fieldHeads, propertyHeads } = run
  assert(keyCount <= keySeen.length, 'every known key has its place in the memory of a run')
  describeKeys(run)
  return {
    cells,
    run,
    used: 0,
    top: 0,
    generation: 0,
    keySeen,
    propertyCount: 0,
    fieldHeads: createHeads(fieldIndex, fieldHeads),
    propertyHeads: createHeads(propertyIndex, propertyHeads),
  }
}

/** Forgets all records. Whoever scans another text begins with this. */
export function clearTape(tape: SpanTape): void {
  tape.used = 0
  closeWindow(tape.run)
}

/** Begins the record of the event at `start`, in place of one that was not kept. */
export function beginRecord(tape: SpanTape, start: number): void {
  const at = tape.used
  tape.cells[at + 1] = start
  tape.cells[at + 3] = 0
  tape.cells[at + 5] = -1
  tape.cells[at + factsCell] = 0
  tape.propertyCount = 0
  tape.top = at + headSize
  tape.generation = (tape.generation + 1) | 0
  if (tape.generation === 0) beginCount(tape)
}

/** A thread comes here after 2^32 events. What was met so long ago, or never, was not met in an event to come. */
function beginCount(tape: SpanTape): void {
  tape.keySeen.fill(0)
  tape.generation = 1
}

export function mark(tape: SpanTape, bits: number): void {
  tape.cells[tape.used + 3]! |= bits
}

export function hasMark(tape: SpanTape, bits: number): boolean {
  return (tape.cells[tape.used + 3]! & bits) !== 0
}

/** Notes the span of a known key's value. `before` is where the entry before it ends. */
export function addSpan(tape: SpanTape, key: number, before: number, start: number, end: number): void {
  const { cells, top } = tape
  if (tape.keySeen[key] === tape.generation) {
    mark(tape, EventMark.mayRepeat)
    const entry = findEntry(tape, key)
    cells[entry + 2] = start
    cells[entry + 3] = end
    return
  }
  tape.keySeen[key] = tape.generation
  cells[top] = key
  cells[top + 1] = before
  cells[top + 2] = start
  cells[top + 3] = end
  tape.top = top + entrySize
}

/** Notes that a known key was met, and nothing of its value: `hasSpan` is true, but there is no entry. */
export function meetKey(tape: SpanTape, key: number): void {
  tape.keySeen[key] = tape.generation
}

/** Forgets the properties noted so far: the object they stood in is followed by another. */
export function dropProperties(tape: SpanTape): void {
  const { cells } = tape
  mark(tape, EventMark.mayRepeat)
  let top = tape.used + headSize
  for (let entry = top; entry < tape.top; entry += entrySize) {
    const key = cells[entry]!
    if (key > lastField) tape.keySeen[key] = tape.generation - 1
    else {
      cells.copyWithin(top, entry, entry + entrySize)
      top += entrySize
    }
  }
  tape.top = top
}

/** True when the record being written holds `key`. */
export function hasSpan(tape: SpanTape, key: number): boolean {
  return tape.keySeen[key] === tape.generation
}

/** Where the entry of `key` begins in the record being written, which holds it; its value's start is 2 further. */
export function findEntry(tape: SpanTape, key: number): number {
  let entry = tape.used + headSize
  while (tape.cells[entry] !== key) entry += entrySize
  return entry
}

/** Completes the record; `keepRecord` makes it stay. */
export function endRecord(tape: SpanTape, end: number): void {
  tape.cells[tape.used] = tape.top - tape.used
  tape.cells[tape.used + 2] = end
  tape.cells[tape.used + 4] = tape.propertyCount
}

/**
 * Keeps the record just completed. Returns false when the tape is full after it. There is still room for one then:
 * the scan goes on, and looks up what it notes of an event that is not kept.
 */
export function keepRecord(tape: SpanTape): boolean {
  tape.used = tape.top
  return tape.used + 2 * recordSizeMax <= tape.cells.length
}

/** One event's record, opened for access by key. */
export interface EventSpans {
  start: number
  end: number
  marks: number
  propertyCount: number
  /** The tape's, where in them the record is, and where its entries are, in the order of the text. */
  cells: Int32Array
  at: number
  entriesAt: number
  entriesEnd: number
  /** The entries' keys in the order of the text, `entryCount` of them: of all that somebody asks for by name. */
  readonly entryKeys: Int32Array
  entryCount: number
  /** The same keys. */
  readonly met: KeySet
  /** By key: end of what comes before the entry, start and end of the value; starts are 0 for an absent key. */
  readonly befores: Int32Array
  readonly starts: Int32Array
  readonly ends: Int32Array
  /**
   * Runs of members of the person column, -1 when they are not told: start and length of each are in the cells behind
   * the entries.
   */
  runCount: number
  /** Their digest's two words, and whether no value counted. */
  digestLow: number
  digestHigh: number
  isQuiet: boolean
  /** What the head tells of single values (event-facts). */
  facts: number
}

export function createSpans(): EventSpans {
  return {
    start: 0,
    end: 0,
    marks: 0,
    propertyCount: 0,
    cells: new Int32Array(0),
    at: 0,
    entriesAt: 0,
    entriesEnd: 0,
    entryKeys: new Int32Array(keyCount),
    entryCount: 0,
    met: createKeySet(),
    befores: new Int32Array(keyCount),
    starts: new Int32Array(keyCount),
    ends: new Int32Array(keyCount),
    runCount: -1,
    digestLow: 0,
    digestHigh: 0,
    isQuiet: false,
    facts: 0,
  }
}

/** Opens the record at `at` of the tape. Returns the place of the next. */
export function readRecord(tape: SpanTape, at: number, spans: EventSpans): number {
  const { cells } = tape
  for (let index = 0; index < spans.entryCount; index++) spans.starts[spans.entryKeys[index]!] = 0
  const next = at + cells[at]!
  spans.start = cells[at + 1]!
  spans.end = cells[at + 2]!
  spans.marks = cells[at + 3]!
  spans.propertyCount = cells[at + 4]!
  const runCount = cells[at + 5]!
  spans.runCount = runCount
  spans.digestLow = cells[at + 6]!
  spans.digestHigh = cells[at + 7]!
  spans.isQuiet = cells[at + 8] === 1
  spans.facts = cells[at + factsCell]!
  const runsAt = runCount > 0 ? next - runCount * runSize : next
  spans.cells = cells
  spans.at = at
  spans.entriesAt = at + headSize
  spans.entriesEnd = runsAt
  let count = 0
  const { met } = spans
  met.low = 0
  met.high = 0
  for (let cell = at + headSize; cell < runsAt; cell += entrySize) {
    const key = cells[cell]!
    // Mapped properties are most of an event's, and but for the first nobody asks for one of them.
    if (key > mappedFirst) continue
    spans.entryKeys[count++] = key
    addKey(met, key)
    spans.befores[key] = cells[cell + 1]!
    spans.starts[key] = cells[cell + 2]!
    spans.ends[key] = cells[cell + 3]!
  }
  spans.entryCount = count
  return next
}
