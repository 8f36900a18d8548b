// Process entry. Without arguments it is the restarting parent; with --child it is the server itself.

import { fileURLToPath } from 'node:url'
import { systemClock } from './lib/clock.ts'
import { serve } from './serve.ts'
import { supervise } from './supervisor.ts'
import { openLog } from './telemetry/log.ts'

if (process.argv[2] === '--child') {
  process.exitCode = await serve()
} else {
  const command = [fileURLToPath(import.meta.url), '--child']
  process.exitCode = await supervise({
    command,
    clock: systemClock,
    log: openLog({ logLevel: 'info', logFormat: 'auto' }),
  })
}
