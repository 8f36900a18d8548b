// posthog-python, as published, when this machine has it: a migration with gzip arrives once, flagged and in order.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { readStoredRows } from '../support/rows.ts'
import { startServerProcess } from '../support/server.ts'
import { openGate } from './gate.ts'

const script = `
import datetime, sys
from posthog import Posthog
key, host, migration = sys.argv[1:]
client = Posthog(key, host=host, gzip=True, historical_migration=migration == 'historical', flush_at=50)
for n in range(120):
    moment = datetime.datetime(2023, 1, 1, 12, tzinfo=datetime.timezone.utc) + datetime.timedelta(minutes=n)
    properties = {'n': n, 'text': 'ü 🦔'}
    client.capture(f'event {n}', distinct_id=f'python {migration}', properties=properties, timestamp=moment)
client.shutdown()
`

const isInstalled = spawnSync('python3', ['-c', 'import posthog']).status === 0
const skip = isInstalled ? false : 'python3 -c "import posthog" fails: pip install posthog to run this'

t.test('posthog-python sends history and the present, each stored once (case 108)', { skip }, async (t) => {
  const server = await startServerProcess(t)
  for (const migration of ['historical', 'realtime'] as const) {
    const gate = await openGate(t, server.url)
    const child = spawn('python3', ['-c', script, server.projectApiKey, gate.url, migration], {
      stdio: 'inherit',
    })
    t.same(await once(child, 'exit'), [0, null])
    t.ok(gate.captures().every((passage) => passage.status === 200))
    t.equal(gate.captures().flatMap((passage) => passage.events).length, 120)
    const rows = await server.storedEvents({ distinct_id: `python ${migration}` })
    t.same(
      rows.map((row) => [row.event, row.properties.n, row.properties.text]),
      Array.from({ length: 120 }, (_, n) => [`event ${n}`, n, 'ü 🦔']),
    )
    t.ok(Math.abs(Date.parse(rows[0]?.timestamp ?? '') - Date.parse('2023-01-01T12:00:00Z')) < 5000)
  }
  t.equal(await server.stop(), 0)
  t.ok((await readStoredRows(server.dataDir, 'python historical')).every((row) => row.historical))
  t.ok((await readStoredRows(server.dataDir, 'python realtime')).every((row) => !row.historical))
})
