// Gives large memory back at once. The collector sees it late: it counts what JavaScript holds, and a body of 160 MiB
// is one small object to it.

import { MessageChannel } from 'node:worker_threads'

/** Smaller memory is left to the collector: a call takes some ten microseconds. */
export const releasedBytesMin = 4 * 1024 * 1024

/** What is moved to a closed port is gone: the move takes place, and nobody gets it. */
const { port1: nowhere } = new MessageChannel()
nowhere.close()

/** Frees `buffer` if it is large; every view on it is empty then. Nobody may use it any more. */
export function releaseMemory(buffer: ArrayBuffer): void {
  if (buffer.byteLength >= releasedBytesMin) nowhere.postMessage(null, [buffer])
}
