import t from 'tap'
import { captured, dropsOf } from './tasks.ts'

const key = 'phc_test'

t.test('takes the batch of an event for a field that nobody knows', async (t) => {
  t.same(dropsOf(captured({ api_key: key, batch: [{ event: 'e', batch: 'B' }] })), { distinct_id_missing: 1 })
  t.same(dropsOf(captured({ api_key: key, event: 'e', batch: 'B' })), { distinct_id_missing: 1 })
})
