import { availableParallelism, totalmem } from 'node:os'
import t from 'tap'
import { loadConfig } from '../src/config.ts'
import { decodeThreadCount, duckdbMemoryLimitBytes, duckdbThreadCount } from '../src/machine-share.ts'

t.test('threads and memory follow the machine unless they are set', async (t) => {
  t.equal(decodeThreadCount(loadConfig({})), Math.max(1, availableParallelism() - 1))
  t.equal(decodeThreadCount(loadConfig({ DECODE_THREADS: '3' })), 3)
  t.equal(duckdbThreadCount(loadConfig({})), Math.max(1, Math.floor(availableParallelism() / 2)))
  t.equal(duckdbThreadCount(loadConfig({ DUCKDB_THREADS: '3' })), 3)
  t.ok(duckdbMemoryLimitBytes(loadConfig({})) <= Math.min(totalmem() / 4, 1024 ** 3))
  t.equal(duckdbMemoryLimitBytes(loadConfig({ DUCKDB_MEMORY_LIMIT: '500000000' })), 500_000_000)
})
