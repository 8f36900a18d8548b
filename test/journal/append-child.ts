// Appends records named 0, 1, 2 … one after the other and prints each name once it is acknowledged, until the journal
// kills the process at the named point. Everything acknowledged is released, so that retention has work.

import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { openJournal } from '../../src/journal/client.ts'
import { part } from './lane-world.ts'

const [folder = '', killAt = ''] = process.argv.slice(2)
const journal = await openJournal({
  dir: join(folder, 'journal'),
  quarantineDir: join(folder, 'quarantine'),
  segmentBytes: 600,
  keepBytes: 1200,
  freeBytesMin: 0,
  killAt,
})
for (let id = 0; ; id++) {
  const { end } = await journal.append('realtime', [part(String(id), [id + 1])])
  writeSync(1, `${id}\n`)
  if (killAt === 'retention_unlink') journal.release('realtime', end)
}
