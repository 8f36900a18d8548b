import t from 'tap'
import { openEventBatch, textColumnNames, textValue } from '../../src/capture/event-batch.ts'
import { personText } from '../../src/capture/person-pieces.ts'
import { columnDigest } from '../../src/identity/column-digest.ts'
import { formatUuid } from '../../src/lib/uuid.ts'

/** What was written as version 1 of a $pageview of anna and of an anonymous event whose name holds a separator. */
const recorded =
  'UgAAAN4ABqd2ZXJzaW9uAalwcm9qZWN0SWQBrHJlY2VpdmVkQXRNc8tCePNAaeAAAKhzZW50QXRNc8tCePNAaeAAAKpoaXN0b3Jp' +
  'Y2FswqVjb3VudAIAAAAAAAAAAHAAgAAAAAAAAAEAAAAAAABwAIAAAAAAAAACKR77AwduX7qPuS6W/7eWF23fZWhJgFmiiUio5z94' +
  '+LkApBbZjF0YQwCtU9mMXRhDARMAAAAAAAAJAAAADQAAAAQAAAAKAAAAnAAAAPgAAAA9AAAAPgAAAAAAAAACAAAAJHBhZ2V2aWV3' +
  'HmIeYx5hbm5hHsO8c2VyHnsiZGlzdGluY3RfaWQiOiJhbm5hIiwiJGJyb3dzZXIiOiJDaHJvbWUiLCJuIjoxMjM0NTY3ODkwMSwi' +
  'dXRtX3NvdXJjZSI6IngiLCIkc2V0Ijp7InBsYW4iOiJmcmVlIn0sIiRpcCI6IjIwMy4wLjExMy43IiwiJHNlbnRfYXQiOiIyMDI0' +
  'LTA1LTAxVDEyOjAwOjAwLjAwMFoifR57IiRwcm9jZXNzX3BlcnNvbl9wcm9maWxlIjpmYWxzZSwiJGlwIjoiMjAzLjAuMTEzLjci' +
  'LCIkc2VudF9hdCI6IjIwMjQtMDUtMDFUMTI6MDA6MDAuMDAwWiJ9HnsiJHNldCI6eyJwbGFuIjoiZnJlZSJ9LCIkYnJvd3NlciI6' +
  'IkNocm9tZSIsInV0bV9zb3VyY2UiOiJ4In0eHh5hHg=='

t.test('a batch of version 1 is read as it was written', async (t) => {
  const batch = openEventBatch(new Uint8Array(Buffer.from(recorded, 'base64')))
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
