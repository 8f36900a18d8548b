import t from 'tap'
import { Setback } from '../../src/events/setback.ts'

t.test('shows what failed three times in a row, until something was achieved', async (t) => {
  const setback = new Setback()
  setback.failed('disk')
  setback.failed('disk')
  t.equal(setback.reason, null)
  setback.failed('memory')
  t.equal(setback.reason, 'loading fails again and again: memory')
  setback.over()
  t.equal(setback.reason, null)
})
