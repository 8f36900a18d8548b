// The thread's side of a lane, run in the test's own thread on a disk whose calls can be made to fail.

import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { createLaneMemory, LaneSender } from '../../src/journal/lane-line.ts'
import type { FromLane, ToLane } from '../../src/journal/messages.ts'
import { runLaneThread } from '../../src/journal/thread.ts'
import { laneOptions, part } from './lane-world.ts'
import { errno } from './simulated-disk.ts'

t.test('says that it refused what found no room while it closed, before it is gone', async (t) => {
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
  t.ok(sender.put([part('x')]))
  port2.postMessage({ kind: 'append', chain: [part('y')] } satisfies ToLane)
  sender.posted()
  port2.postMessage({ kind: 'close' } satisfies ToLane)
  sender.posted()
  await once(port2, 'close')
  t.match(answers.at(-1), { kind: 'refused', ids: [0, 1] })
})
