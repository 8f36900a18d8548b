import t from 'tap'
import { Pace, rowGroupRows } from '../../src/events/pace.ts'

t.test('takes about 300 ms of rows, and whole row groups when one waits', async (t) => {
  const pace = new Pace()
  for (let i = 0; i < 20; i++) pace.applied(10_000, 10_000_000, 200)
  t.equal(Math.round(pace.rowGroupBytes / 1000), 16_384)
  t.equal(pace.rows(1_000_000), 15_000)
  t.equal(pace.rows(rowGroupRows * 1001), 16_384)
  t.equal(pace.rows(rowGroupRows * 1999), 16_384)
  t.equal(pace.rows(rowGroupRows * 2001), 32_768)
  t.equal(pace.rows(rowGroupRows * 9001), 32_768)
  t.equal(Math.round(pace.bytes(1000)), 1_000_000)
})

t.test('learns nothing from small transactions', async (t) => {
  const pace = new Pace()
  const before = pace.rows(1_000_000)
  pace.applied(1, 2000, 50)
  t.equal(pace.rows(1_000_000), before)
})

t.test('halves after a failure, down to one row, and recovers', async (t) => {
  const pace = new Pace()
  pace.failed(1000)
  t.equal(pace.rows(1_000_000), 500)
  for (let i = 0; i < 20; i++) pace.failed(1)
  t.equal(pace.rows(1_000_000), 1)
  pace.applied(1, 1000, 1)
  t.equal(pace.rows(1_000_000), 2)
  for (let i = 0; i < 20; i++) pace.applied(2, 1000, 1)
  t.equal(pace.rowsMax, 32_768)
})
