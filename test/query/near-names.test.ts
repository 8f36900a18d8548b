import t from 'tap'
import { nearNames } from '../../src/query/near-names.ts'

t.test('finds what may have been meant, nearest first', async (t) => {
  const known = ['count', 'countif', 'sum', 'tostartofday', 'tostartofweek', 'lower']
  t.strictSame(nearNames('COUTN', known), ['count'])
  t.strictSame(nearNames('toStartOfDya', known), ['tostartofday', 'tostartofweek'])
  t.strictSame(nearNames('counted', known), ['count', 'countif'])
  t.strictSame(nearNames('getenv', known), [])
  t.strictSame(nearNames('', known), [])
})
