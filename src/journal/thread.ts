// A lane's thread: takes messages, steps the writer, and sends what came of it. Its calls to the disk block, which is
// why it has a thread of its own; between two groups it lets the event loop deliver what has arrived meanwhile.

import type { MessagePort } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import { systemClock } from '../lib/clock.ts'
import { unpackAppends } from './append-message.ts'
import { nodeDisk } from './disk.ts'
import { LaneWriter } from './lane.ts'
import type { LaneSettings } from './lane-options.ts'
import type { FromLane, ToLane } from './messages.ts'

const tickMs = 1000

/** Runs the lane until it is told to close. */
export function runLaneThread(port: MessagePort, settings: LaneSettings): void {
  const send = (message: FromLane): void => port.postMessage(message)
  const refusedIds: number[] = []
  let refusedDetail = ''
  const sendRefused = (): void => {
    if (refusedIds.length > 0) send({ kind: 'refused', ids: refusedIds.splice(0), detail: refusedDetail })
  }
  let lane: LaneWriter
  try {
    const log = (
      level: 'info' | 'warn' | 'error',
      message: string,
      fields: Readonly<Record<string, unknown>>,
    ) => send({ kind: 'log', level, message, fields })
    lane = new LaneWriter(nodeDisk, { ...settings, log }, systemClock, {
      committed: (acks) => send({ kind: 'committed', acks, status: lane.status() }),
      refused: (ids, detail) => {
        // One message for all that one message brought.
        if (refusedIds.length === 0) queueMicrotask(sendRefused)
        refusedIds.push(...ids)
        refusedDetail = detail
      },
      failed: (error) => send({ kind: 'failed', detail: error.detail }),
    })
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : 'storage_failed'
    const detail =
      error instanceof ServiceError ? error.detail : `the journal in ${settings.dir} cannot open: ${error}`
    send({ kind: 'refused_to_open', code, detail })
    port.close()
    return
  }
  const status = (): void => send({ kind: 'status', status: lane.status() })
  lane.tick()
  send({ kind: 'opened', status: lane.status() })
  const timer = setInterval(() => {
    lane.tick()
    status()
  }, tickMs)

  let isStepping = false
  const step = (): void => {
    isStepping = lane.step()
    if (isStepping) setImmediate(step)
  }
  port.on('message', (message: ToLane) => {
    if (message.kind === 'append') {
      const chains = unpackAppends(message)
      for (let i = 0; i < message.ids.length; i++) lane.append(message.ids[i]!, chains[i]!)
      if (!isStepping) setImmediate(step)
      isStepping = true
    } else if (message.kind === 'release') {
      lane.release(message.position)
    } else {
      clearInterval(timer)
      lane.close()
      sendRefused()
      send({ kind: 'closed', status: lane.status() })
      port.close()
    }
  })
}
