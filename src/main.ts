// Process entry. Without arguments it is the restarting parent; with --child it is the server itself.

import { fileURLToPath } from 'node:url'
import { systemClock } from './lib/clock.ts'

// The parent does without the server's modules, and the server without the parent's.
if (process.argv[2] === '--child') {
  const { serve } = await import('./serve.ts')
  process.exitCode = await serve()
} else {
  const { supervise } = await import('./supervisor.ts')
  const { openLog } = await import('./telemetry/log.ts')
  const command = [fileURLToPath(import.meta.url), '--child']
  process.exitCode = await supervise({
    command,
    clock: systemClock,
    log: openLog({ logLevel: 'info', logFormat: 'auto' }),
  })
}
