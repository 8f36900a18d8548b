// Run by store.test.ts in a process of its own: holds the store in the folder given until its input ends.

import { openStore } from '../../src/events/store.ts'
import { systemClock } from '../../src/lib/clock.ts'

const [, script, dataDir] = process.argv
if (script?.endsWith('lock-child.js') && dataDir !== undefined) {
  const limits = { memoryLimitBytes: 64 * 1024 * 1024, threads: 1, isJournalComplete: true }
  const store = await openStore({ dataDir, ...limits, clock: systemClock })
  process.stdout.write('open\n')
  process.stdin.on('end', () => store.close()).resume()
}
