// How the heaps of all threads are collected.
//
// How far they grow between two full collections. V8 looks at a whole heap again when so much has come since the last
// time, and counts the memory of bodies, texts and batches as if it were in the heap, although all of it is gone a
// moment later. On the main thread, with 24 MB alive, that came to a full collection for every 350 batches of 20
// events, and V8's own threads took 244 of the 1,650 µs of a request. V8 allows a heap four times of what is alive
// where it thinks that this pays. Here it always does, and V8's threads take 22 to 45 µs (Node 20.20, a crowded
// machine).
//
// Bounded all the same: memory outside of the heap that grows by 64 MiB has it collected whatever this says, and a
// large heap grows by half of what is left to its limit at most.
//
// Who collects young objects: the thread they are of, alone. By default V8 wakes its own threads to help. Hardly
// anything is alive by then, and to wake them and to wait for them costs more than they do: of the same requests
// with single events, on one core of a crowded machine, the main thread waited 289 ms for them with that and 162 ms
// without.

import { setFlagsFromString } from 'node:v8'

/** Beyond what is alive after a full collection. */
const growingPercent = 300

/** To be called before other threads start; what runs already collects once more as before. */
export function tuneHeaps(): void {
  setFlagsFromString(`--heap-growing-percent=${growingPercent}`)
  setFlagsFromString('--no-parallel-scavenge')
}
