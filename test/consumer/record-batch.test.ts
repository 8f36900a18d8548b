import t from 'tap'
import { openRecord } from '../../src/consumer/record-batch.ts'
import { captured } from '../capture/tasks.ts'

t.test('opens the batch of a record, and no other', async (t) => {
  const { parts } = captured({ api_key: 'phc_test', batch: [{ event: 'e', distinct_id: 'u' }] })
  const payload = parts[0]?.payload ?? new Uint8Array(0)
  t.equal(openRecord({ payload, eventCount: 1 }).header.count, 1)
  t.throws(() => openRecord({ payload, eventCount: 2 }), /a record of 2 events holds a batch of 1/)
  t.throws(() => openRecord({ payload: payload.subarray(0, -1), eventCount: 1 }), /fill its bytes/)
})
