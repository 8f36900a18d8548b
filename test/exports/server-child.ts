// Run by server.pg.test.ts in a process of its own: a server whose clock is so many hours ahead of the real one, which
// its parent tells at the start (as argument) and may change (as message). Says its port to the parent.

import { loadConfig } from '../../src/config.ts'
import { type Clock, systemClock } from '../../src/lib/clock.ts'
import { openServer } from '../../src/server.ts'
import { openLog } from '../../src/telemetry/log.ts'

let hours = Number(process.argv[2])
const clock: Clock = {
  nowMs: () => systemClock.nowMs() + hours * 3_600_000,
  monotonicMs: systemClock.monotonicMs,
}
const config = loadConfig()
const server = await openServer(config, { clock, log: openLog(config) })
process.on('message', (message) => {
  hours = Number(message)
})
process.once('SIGTERM', async () => {
  await server.close()
  process.disconnect()
})
process.send?.(server.port)
