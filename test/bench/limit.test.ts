import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createCorpus } from '../../bench/corpus.ts'
import type { DuckdbLoad } from '../../bench/duckdb-load.ts'
import { writeNdjson } from '../../bench/ndjson-file.ts'
import { workloadNamed } from '../../bench/workload.ts'

t.test('DuckDB alone loads each event of a workload once', async (t) => {
  const folder = t.testdir()
  const file = join(folder, 'events.ndjson')
  writeNdjson(file, createCorpus(1, 'phc_limitTest'), { ...workloadNamed('w2'), basisCount: 2 }, 7)
  const script = fileURLToPath(new URL('../../bench/duckdb-load.js', import.meta.url))
  const output = execFileSync(process.execPath, [script, file, join(folder, 'limit.duckdb')], {
    encoding: 'utf8',
  })
  // The script prints nothing else.
  const load = JSON.parse(output) as DuckdbLoad
  t.match(load, { events: 140, distinctEvents: 140 })
  t.ok(load.cpuSeconds > 0 && load.diskBytes > 140 * 20)
})
