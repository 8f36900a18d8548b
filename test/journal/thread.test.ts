// The thread's side of a lane, run in the test's own thread on a disk whose calls can be made to fail.

import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createLaneMemory, LaneSender } from '../../src/journal/lane-line.ts'
import type { FromLane, ToLane } from '../../src/journal/messages.ts'
import { runLaneThread } from '../../src/journal/thread.ts'
import { laneOptions, part } from './lane-world.ts'
import { errno } from './simulated-disk.ts'

interface FullLane {
  readonly sender: LaneSender
  send(message: ToLane): void
  /** Tells the lane to close and resolves with the last that it said. */
  close(): Promise<FromLane | undefined>
}

/** A lane whose disk has no room for anything that is written. */
function openFullLane(t: Test): FullLane {
  const dir = t.testdir()
  const { port1, port2 } = new MessageChannel()
  const answers: FromLane[] = []
  port2.on('message', (message: FromLane) => answers.push(message))
  const { log: _log, ...settings } = laneOptions
  const memory = createLaneMemory()
  runLaneThread(port1, {
    settings: {
      ...settings,
      dir: join(dir, 'realtime'),
      quarantineDir: join(dir, 'quarantine'),
      freeBytesMin: 0,
    },
    memory,
  })
  const { writevSync } = fs
  t.teardown(() => {
    fs.writevSync = writevSync
    syncBuiltinESMExports()
  })
  fs.writevSync = () => {
    throw errno('ENOSPC', 'write')
  }
  syncBuiltinESMExports()
  const sender = new LaneSender(memory)
  const send = (message: ToLane): void => {
    port2.postMessage(message)
    sender.posted()
  }
  const close = async (): Promise<FromLane | undefined> => {
    send({ kind: 'close' })
    await once(port2, 'close')
    return answers.at(-1)
  }
  return { sender, send, close }
}

t.test('says that it refused what found no room while it closed, before it is gone', async (t) => {
  const { sender, send, close } = openFullLane(t)
  t.ok(sender.put([part('x')]))
  send({ kind: 'append', chain: [part('y')] })
  t.match(await close(), { kind: 'refused', ids: [0, 1] })
})

t.test('refuses more chains at once than a call takes arguments', async (t) => {
  const { sender, send, close } = openFullLane(t)
  const chain = [part('', [])]
  const count = 130_000
  for (let id = 0; id < count; id++) if (!sender.put(chain)) send({ kind: 'append', chain })
  const last = await close()
  const refusedIds = last !== undefined && 'kind' in last && last.kind === 'refused' ? last.ids : []
  t.equal(refusedIds.length, count)
  t.ok(refusedIds.every((id, index) => id === index))
})
