// One connection that waits for notifications on one channel, and comes back by itself.
//
// States: connecting → listening → (broken) → waiting → connecting …; closed ends it from any of them. Whoever
// listens is told of every arrival in `listening`, because what was notified before went unheard.

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Log } from '../telemetry/log.ts'

/** A running listener. */
export interface Listening {
  close(): Promise<void>
}

interface ListenerOptions {
  readonly settings: pg.ClientConfig
  readonly channel: string
  readonly onNotify: (payload: string | null) => void
  readonly log: Log
}

const retryMsMin = 100
const retryMsMax = 5_000

export function openListener(options: ListenerOptions): Listening {
  const closing = new AbortController()
  const done = keepListening(options, closing.signal)
  const close = (): Promise<void> => {
    closing.abort()
    return done
  }
  return { close }
}

async function keepListening(options: ListenerOptions, closing: AbortSignal): Promise<void> {
  let retryMs = retryMsMin
  while (!closing.aborted) {
    try {
      await listenOnce(options, closing, () => {
        retryMs = retryMsMin
      })
    } catch (error) {
      options.log.debug(
        { err: error, channel: options.channel },
        'the listening connection to Postgres broke',
      )
    }
    // Closing interrupts the pause, which is why its rejection is the expected end.
    await delay(retryMs, undefined, { signal: closing }).catch(() => {})
    retryMs = Math.min(retryMs * 2, retryMsMax)
  }
}

/** Connects, listens, and settles when the connection has ended. */
async function listenOnce(
  options: ListenerOptions,
  closing: AbortSignal,
  onListening: () => void,
): Promise<void> {
  const client = new pg.Client(options.settings)
  let finish = (): void => {}
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  client.once('end', finish)
  client.on('error', finish) // the connection is of no use any more; `end` may follow or not
  closing.addEventListener('abort', finish)
  try {
    client.on('notification', ({ payload }) => options.onNotify(payload ?? ''))
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(options.channel)}`)
    onListening()
    if (!closing.aborted) options.onNotify(null)
    await ended
  } finally {
    closing.removeEventListener('abort', finish)
    await client.end().catch(() => {}) // it may have ended before
  }
}
