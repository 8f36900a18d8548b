// The oracle's own journal: what a client sent and what it was told, written by the client before and after each
// attempt, on another file system than the one under test. A text file, one line an entry:
//
//   sent <number> <attempt> <ms> <shape> <hashes, base64>     before the request leaves; hashes on attempt 0 only
//   answered <number> <attempt> <ms> <status>
//   lost <number> <attempt> <ms>                              the connection ended without an answer
//
// Times are `machineMs`. Lines are written synchronously: what the server may have seen is always in the file.

import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import type { Shape } from './capture-request.ts'

export interface Attempt {
  readonly sentMs: number
  /** Null while there is no answer. */
  status: number | null
  /** When the answer came or the connection was lost. */
  endMs: number | null
}

/** One request with all its attempts. */
export interface SentRequest {
  readonly client: number
  readonly number: number
  readonly shape: Shape
  /** 8 bytes an event. */
  readonly hashes: Uint8Array
  readonly attempts: Attempt[]
}

/** True when an answer says that the request will never be taken; 408 and 429 ask to send it again. */
export function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429
}

export class OracleJournal {
  readonly #fd: number

  constructor(path: string) {
    this.#fd = openSync(path, 'a')
  }

  /** `hashes` is null for every attempt but the first. */
  sent(number: number, attempt: number, ms: number, shape: Shape, hashes: Uint8Array | null): void {
    const text = hashes === null ? '' : Buffer.from(hashes).toString('base64')
    this.#write(`sent ${number} ${attempt} ${ms} ${shape} ${text}`)
  }

  answered(number: number, attempt: number, ms: number, status: number): void {
    this.#write(`answered ${number} ${attempt} ${ms} ${status}`)
  }

  lost(number: number, attempt: number, ms: number): void {
    this.#write(`lost ${number} ${attempt} ${ms}`)
  }

  close(): void {
    closeSync(this.#fd)
  }

  #write(line: string): void {
    writeSync(this.#fd, `${line}\n`)
  }
}

/** Reads the journal of client `client`: its requests, each at the index of its number. */
export function readOracleJournal(path: string, client: number): SentRequest[] {
  const requests: SentRequest[] = []
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue
    const [kind, number, attempt, ms, rest, hashes] = line.split(' ')
    if (kind === 'sent') {
      // Written by `sent` above, which takes a Shape.
      const shape = rest as Shape
      if (attempt === '0')
        requests[Number(number)] = {
          client,
          number: Number(number),
          shape,
          hashes: Buffer.from(hashes!, 'base64'),
          attempts: [],
        }
      requests[Number(number)]!.attempts[Number(attempt)] = { sentMs: Number(ms), status: null, endMs: null }
    } else {
      const end = requests[Number(number)]!.attempts[Number(attempt)]!
      end.endMs = Number(ms)
      if (kind === 'answered') end.status = Number(rest)
    }
  }
  return requests
}
