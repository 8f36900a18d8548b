import t from 'tap'
import { isIngestingBy } from '../../src/exports/intake.ts'

t.test('events come in from a megabyte a second on, by the last half second or more', async (t) => {
  const now = { ms: 0, bytes: 0 }
  const isIngesting = isIngestingBy(() => now.bytes, { monotonicMs: () => now.ms })
  Object.assign(now, { ms: 499, bytes: 10e6 })
  t.equal(isIngesting(), false)
  Object.assign(now, { ms: 500 })
  t.equal(isIngesting(), true)
  Object.assign(now, { ms: 999 })
  t.equal(isIngesting(), true)
  Object.assign(now, { ms: 2500, bytes: 10e6 + 2 * 1024 * 1024 - 1 })
  t.equal(isIngesting(), false)
  Object.assign(now, { ms: 3500, bytes: 10e6 + 3 * 1024 * 1024 - 1 })
  t.equal(isIngesting(), true)
})
