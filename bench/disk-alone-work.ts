// Group commits to a file by themselves. A process of its own, so that it can be kept to the server's core:
//
//   node disk-alone-work.js '{"file":"/…/disk-alone","requestsPerSecond":8000,"seconds":6,"requestBytes":1200}'
//
// Requests are due at an even rate; those that are due are written together and synced, and answered then. The file is
// as long as it will be, so that a sync has only their bytes to write. Nothing else is done, so no server that syncs
// before it answers does better on this disk. Prints LatencyMs as JSON.

import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { machineMs } from './clock.ts'
import type { DiskLoad } from './disk-alone.ts'
import { addLatency, type LatencyMs, latencyOf, openLatencies } from './latency.ts'

/** Of a group, or a request where that is more; a backlog takes several. */
const groupBytesMax = 1 << 20

// disk-alone.ts passes it as JSON.
console.log(JSON.stringify(commitEvenly(JSON.parse(process.argv[2] ?? '') as DiskLoad)))

function commitEvenly({ file, requestsPerSecond, seconds, requestBytes }: DiskLoad): LatencyMs {
  const latencies = openLatencies()
  const bytes = Buffer.alloc(Math.max(groupBytesMax, requestBytes), 'x')
  const groupMax = Math.floor(bytes.length / requestBytes)
  const count = Math.round(requestsPerSecond * seconds)
  const descriptor = openSync(file, 'w', 0o600)
  writeSync(descriptor, Buffer.alloc(count * requestBytes))
  fdatasyncSync(descriptor)
  const startMs = machineMs()
  const dueMs = (number: number): number => startMs + (number * 1000) / requestsPerSecond
  for (let answered = 0; answered < count; ) {
    waitUntil(dueMs(answered))
    const due = Math.min(count, Math.floor(((machineMs() - startMs) * requestsPerSecond) / 1000) + 1)
    const end = Math.min(due, answered + groupMax)
    writeSync(descriptor, bytes, 0, (end - answered) * requestBytes, answered * requestBytes)
    fdatasyncSync(descriptor)
    const nowMs = machineMs()
    for (; answered < end; answered++) addLatency(latencies, nowMs - dueMs(answered))
  }
  closeSync(descriptor)
  rmSync(file)
  return latencyOf(latencies)
}

function waitUntil(ms: number): void {
  const waitMs = ms - machineMs()
  if (waitMs > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
}
