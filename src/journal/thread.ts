// A lane's thread: takes what was sent, steps the writer, and sends what came of it. Its calls to the disk block, and
// between two groups it sleeps where it hears nothing but its bell, which is why it has a thread of its own. The event
// loop has a turn once a second, for what Node and V8 leave to it: nothing here may wait for a promise or a timer.

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { ServiceError } from '../errors.ts'
import { assert, unreachable } from '../lib/assert.ts'
import { systemClock } from '../lib/clock.ts'
import { CommitPace, sleepThread } from './commit-pace.ts'
import { nodeDisk } from './disk.ts'
import { LaneWriter } from './lane.ts'
import { LaneReceiver } from './lane-line.ts'
import type { Log } from './lane-options.ts'
import type { FromLane, LaneStart, ToLane } from './messages.ts'
import { unpack } from './parcel.ts'

const tickMs = 1000

/** Runs the lane until it is told to close. */
export function runLaneThread(port: MessagePort, { settings, memory }: LaneStart): void {
  const send = (message: FromLane): void => port.postMessage(message)
  const log: Log = (level, message, fields) => send({ kind: 'log', level, message, fields })
  const line = new LaneReceiver(memory)
  const refusedIds: number[] = []
  let refusedDetail = ''
  let lane: LaneWriter
  try {
    lane = new LaneWriter(nodeDisk, { ...settings, log }, systemClock, {
      committed: (acks) => {
        line.tell(lane.status())
        send(acks)
      },
      refused: (ids, detail) => {
        // One by one: there may be more than a call takes arguments.
        for (const id of ids) refusedIds.push(id)
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
  const inbox = new Inbox(port, line, lane)
  const pace = new CommitPace(systemClock, sleepThread)
  const tick = (): void => {
    lane.tick()
    line.tell(lane.status())
  }
  /** Keeps the thread until the next tick, or until the lane is closed. */
  const work = (): void => {
    const untilMs = systemClock.monotonicMs() + tickMs
    for (let restMs = tickMs; restMs > 0; restMs = untilMs - systemClock.monotonicMs()) {
      const rings = line.rings()
      pace.wait()
      const isOpen = inbox.empty()
      if (!isOpen) lane.close()
      pace.began()
      const isMore = lane.step()
      // One message for all that came together.
      if (refusedIds.length > 0) send({ kind: 'refused', ids: refusedIds.splice(0), detail: refusedDetail })
      if (!isOpen) {
        line.tell(lane.status())
        port.close()
        return
      }
      if (!isMore) line.sleep(rings, restMs)
    }
    tick()
    setImmediate(work)
  }
  tick()
  send({ kind: 'opened' })
  setImmediate(work)
}

/** What was sent and is not with the lane yet. */
class Inbox {
  readonly #port: MessagePort
  readonly #line: LaneReceiver
  readonly #lane: LaneWriter
  /** Of the next chain: how many came before it. */
  #nextId = 0

  constructor(port: MessagePort, line: LaneReceiver, lane: LaneWriter) {
    this.#port = port
    this.#line = line
    this.#lane = lane
  }

  /** Hands all of it to the lane. Returns false when the lane is to be closed. */
  empty(): boolean {
    for (;;) {
      const next = this.#line.next()
      if (next === null) return true
      if (next !== 'message') this.#lane.append(this.#nextId++, next)
      else if (!this.#takeMessage()) return false
    }
  }

  #takeMessage(): boolean {
    const received = receiveMessageOnPort(this.#port)
    assert(received !== undefined, 'a message that is counted was sent')
    const message: ToLane = received.message
    switch (message.kind) {
      case 'append':
        this.#lane.append(this.#nextId++, message.chain)
        return true
      case 'append_parcel':
        this.#lane.append(this.#nextId++, unpack(message.parcel))
        return true
      case 'release':
        this.#lane.release(message.position)
        return true
      case 'close':
        return false
      default:
        return unreachable(message)
    }
  }
}
