// The common case of scanning events, in WebAssembly (wasm/known-run.ts): members whose heads were guessed and whose
// values are plain are passed in a run, until one is not, and events that are made of such members likewise. What both
// sides know lies in one memory (run-layout): the heads, the tape, and a window on the text, copied piece by piece.
//
// Where the module is missing or of another build, or the processor has no SIMD, all is left to JavaScript, which knows
// all of the grammar and comes to the same result. The scan, this against JavaScript alone (Node 20, builds in turn,
// medians): 2.4 times as fast for batches (W3), 1.4 times for bodies of one event.

import { compileModule, createMemory, openModule, type WasmExports, type WasmModule } from '../wasm-module.ts'
import type { HeadRoom } from './key-heads.ts'
import {
  bornSlotCount,
  bornSlotsAt,
  bornSlotWords,
  cellsAt,
  cellsMax,
  fieldRoomAt,
  guessesAt,
  guessesMax,
  headsMax,
  headTextAt,
  headTextBytesMax,
  keyHashesAt,
  keySeenAt,
  keySizesAt,
  keysAt,
  keysMax,
  layoutNumber,
  leftAt,
  memoryBytes,
  metAt,
  namesAt,
  personKindsAt,
  propertyRoomAt,
  sizesAt,
  startsAt,
  windowAt,
  windowBytesMax,
} from './run-layout.ts'
import type { Scan } from './scan.ts'

/** Described above the functions themselves, in wasm/known-run.ts. */
export interface Passes extends WasmExports {
  readonly pass: (start: number, before: number, generation: number, base: number, top: number) => number
  readonly passEvents: (start: number, generation: number, base: number, top: number) => number
  readonly addIds: (top: number, projectId: number) => void
}

/** What one tape's runs work in. */
export interface KnownRun {
  /** Null where all is left to JavaScript. */
  readonly passes: Passes | null
  readonly fieldHeads: HeadRoom
  readonly propertyHeads: HeadRoom
  /** The tape's. */
  readonly cells: Int32Array
  readonly keySeen: Int32Array
  /** What is to be known of keys for their digest and runs (person-run). */
  readonly keyHashes: Int32Array
  readonly keySizes: Int32Array
  readonly personKinds: Uint8Array
  /** Born ids that are remembered (born-ids). */
  readonly bornSlots: Int32Array
  /** What the last run left: see leftAt in run-layout. */
  readonly left: Int32Array
  readonly window: Uint8Array
  /** What the window holds of the text begins here. */
  windowStart: number
  /** From here on the window is moved. */
  windowEnd: number
}

/** A member that begins closer to the end of the window may not be all in it; few are longer. */
const marginBytes = 1024

/** So much of the text the window shows where an event begins. Few are longer. */
const eventBytes = 4096

/** The module, which a thread compiles once; null where it cannot be had. */
const compiled = compileModule('known-run')

/** With null for a module, all is left to JavaScript. */
export function createRun(module: WasmModule | null = compiled): KnownRun {
  const memory = createMemory(memoryBytes)
  const { buffer } = memory
  return {
    passes: openModule<Passes>(module, memory, layoutNumber),
    fieldHeads: headRoom(buffer, fieldRoomAt),
    propertyHeads: headRoom(buffer, propertyRoomAt),
    cells: new Int32Array(buffer, cellsAt, cellsMax),
    keySeen: new Int32Array(buffer, keySeenAt, keysMax),
    keyHashes: new Int32Array(buffer, keyHashesAt, keysMax),
    keySizes: new Int32Array(buffer, keySizesAt, keysMax),
    personKinds: new Uint8Array(buffer, personKindsAt, keysMax),
    bornSlots: new Int32Array(buffer, bornSlotsAt, bornSlotCount * bornSlotWords),
    left: new Int32Array(buffer, leftAt, 7),
    window: new Uint8Array(buffer, windowAt, windowBytesMax + 1),
    windowStart: 0,
    windowEnd: 0,
  }
}

function headRoom(buffer: ArrayBuffer, at: number): HeadRoom {
  return {
    text: new Uint8Array(buffer, at + headTextAt, headTextBytesMax),
    starts: new Int32Array(buffer, at + startsAt, headsMax),
    sizes: new Int32Array(buffer, at + sizesAt, headsMax),
    keys: new Int16Array(buffer, at + keysAt, headsMax),
    names: new Int16Array(buffer, at + namesAt, headsMax),
    guesses: new Int16Array(buffer, at + guessesAt, headsMax * guessesMax),
    met: new Int32Array(buffer, at + metAt, headsMax),
  }
}

/** Forgets what the window holds, since another text is scanned from now on. */
export function closeWindow(run: KnownRun): void {
  run.windowEnd = 0
}

/**
 * Passes members of an object from `at` on, where the value of `before` ends or the brace stands, as the event
 * `generation`. Returns the head of the member that is left when it was guessed, else noHead; more is in `left`.
 */
export function passRun(
  run: KnownRun,
  { pass }: Passes,
  scan: Scan,
  before: number,
  at: number,
  generation: number,
  top: number,
): number {
  if (at < run.windowStart || at >= run.windowEnd) openWindow(run, scan, at)
  const { windowStart } = run
  return pass(at - windowStart, before, generation, windowStart, top)
}

/**
 * Passes events of an array from `at` on, where one begins, each as a record of the tape: `generation` is the number of
 * the first. Returns how many; more is in `left`.
 */
export function passEventRun(
  run: KnownRun,
  { passEvents }: Passes,
  scan: Scan,
  at: number,
  generation: number,
  top: number,
): number {
  if (at < run.windowStart || at >= run.windowEnd || isCut(run, scan, at)) openWindow(run, scan, at)
  const { windowStart } = run
  return passEvents(at - windowStart, generation, windowStart, top)
}

/** Whether the window may not show all of the event that begins at `at`. */
export function isCut({ windowEnd }: KnownRun, { end }: Scan, at: number): boolean {
  return at + eventBytes > windowEnd && windowEnd < end
}

function openWindow(run: KnownRun, { bytes, end }: Scan, at: number): void {
  const size = Math.min(end - at, windowBytesMax)
  run.window.set(new Uint8Array(bytes.buffer, bytes.byteOffset + at, size))
  // No member goes on behind a NUL.
  run.window[size] = 0
  run.windowStart = at
  run.windowEnd = at + size === end ? end : at + size - marginBytes
}
