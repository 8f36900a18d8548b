import t from 'tap'
import { openEventBatch, textColumnNames, textValue } from '../../src/capture/event-batch.ts'
import { personText } from '../../src/capture/person-pieces.ts'
import { columnDigest } from '../../src/identity/column-digest.ts'
import { formatUuid } from '../../src/lib/uuid.ts'
import { recordedBatch } from './recorded-batch.ts'

t.test('a batch of version 1 is read as it was written', async (t) => {
  const batch = openEventBatch(recordedBatch())
  t.match(batch.header, {
    version: 1,
    projectId: 1,
    receivedAtMs: 1714564800000,
    historical: false,
    count: 2,
  })
  t.same([...batch.flags], [1, 19])
  t.same([...batch.timestamps], [1714564740000000, 1714564741000000])
  t.equal(formatUuid(batch.uuids, 16), '00000000-0000-7000-8000-000000000002')
  const added = '"$ip":"203.0.113.7","$sent_at":"2024-05-01T12:00:00.000Z"'
  const person = '{"$set":{"plan":"free"},"$browser":"Chrome","utm_source":"x"}'
  const values = [0, 1].map((row) => textColumnNames.map((name) => textValue(batch.text[name], row)))
  t.same(values, [
    [
      '$pageview',
      'anna',
      `{"distinct_id":"anna","$browser":"Chrome","n":12345678901,"utm_source":"x","$set":{"plan":"free"},${added}}`,
      person,
      '',
    ],
    ['b\x1ec', 'üser', `{"$process_person_profile":false,${added}}`, '', 'a'],
  ])
  t.equal(personText(batch, 0), person)
  t.equal(personText(batch, 1), '')
  t.ok(columnDigest(batch, 0, false) > 0)
})
