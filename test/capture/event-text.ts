// Arbitrary capture bodies as text: events as SDKs send them, with every field and property that capture reads now
// and then missing, wrong, doubled or spelt with escapes.

import fc from 'fast-check'
import { anyObjectText, listText, objectText, stringText, valueText } from './json-text.ts'

/** Spells a key or value plainly, mostly, or with some letters as escapes. */
function spelt(text: string): fc.Arbitrary<string> {
  const plain = JSON.stringify(text)
  const escaped = (letter: string, index: number) =>
    index % 3 === 1 ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter
  return fc.oneof(
    { weight: 12, arbitrary: fc.constant(plain) },
    { weight: 1, arbitrary: fc.constant(`"${[...text].map(escaped).join('')}"`) },
  )
}

function oneOf(...texts: string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...texts)
}

const name = fc.oneof(
  {
    weight: 4,
    arbitrary: oneOf('$pageview', '$identify', '$create_alias', '$groupidentify', '$set', 'signed up').chain(
      spelt,
    ),
  },
  {
    weight: 2,
    arbitrary: oneOf(
      '$screen',
      'survey sent',
      'survey shown',
      '$merge_dangerously',
      '$feature_flag_called',
      '$snapshot',
    ).chain(spelt),
  },
  {
    weight: 2,
    arbitrary: oneOf(
      '$performance_event',
      '$$client_ingestion_warning',
      'x'.repeat(250),
      `${'y'.repeat(199)}😀z`,
    ).chain(spelt),
  },
  { weight: 1, arbitrary: stringText },
  { weight: 1, arbitrary: valueText },
)

const uuid = fc.oneof(
  { weight: 4, arbitrary: fc.uuid().chain(spelt) },
  oneOf('""', 'null', '"not-a-uuid"', '1', '"018F3C29FFFF7D3E9A4B1F2E3D4C5B6A"'),
)

const timestamp = fc.oneof(
  {
    weight: 4,
    arbitrary: oneOf('2024-05-01T11:00:00Z', '2024-05-01T11:59:58.123456+02:00', '2023-01-01T12:00:00').chain(
      spelt,
    ),
  },
  oneOf('"not a date"', 'null', '12345', '"2031-01-01T00:00:00Z"', '"9999-12-31"', '"1714564800"', '""'),
)

/** No number whose text changes when it is printed again. */
const distinctId = fc.oneof(
  {
    weight: 5,
    arbitrary: oneOf(
      'u',
      'user@example.com',
      'üser',
      '$posthog_cookieless',
      'z'.repeat(222),
      '😀'.repeat(210),
    ).chain(spelt),
  },
  { weight: 2, arbitrary: stringText },
  oneOf(
    '23',
    '23.4',
    'true',
    'null',
    '""',
    '"\\t\\n"',
    '"\\u2003"',
    '["a","b"]',
    '{"string":"a","number":3,"\\ud83d\\ude00":{},"\\uffee":[]}',
  ),
)

const session = oneOf(
  '"018F3C29-FFFF-7D3E-9A4B-1F2E3D4C5B6A"',
  '"018f3c29-ffff-7d3e-9a4b-1f2e3d4c5b6a"',
  '"ABC"',
  '7',
).chain((text) => (text === '7' ? fc.constant(text) : spelt(JSON.parse(text))))

const set = fc.oneof(
  { weight: 3, arbitrary: anyObjectText },
  oneOf('{"a":1}', '{"a":2,"b":3}', '[]', '[1]', '"oops"', 'null', '{}'),
)
const unset = oneOf('["a"]', '["a","b"]', '{"a":1}', '[]', '"a"', 'null', '{}')
const element = fc.oneof(
  oneOf(
    '{"tag_name":"a","attr__class":"b a","nth_child":1,"$el_text":"Go \\"now\\"","attr__href":"/x"}',
    '{}',
    '1',
  ),
  oneOf(
    '{"tag_name":"div","attr__class":["c","a\\"b"],"attr__id":"i","attr__data-x":null,"attr__data_x":3}',
    '{"attr__href":"/","nth_of_type":2}',
  ),
  anyObjectText,
)

const known: [string, fc.Arbitrary<string>][] = [
  ['token', oneOf('"phc_test"', '"phc_test"', '"other"', '1')],
  ['distinct_id', distinctId],
  ['$ip', oneOf('"1.2.3.4"', 'null', '""', '5')],
  ['$sent_at', valueText],
  ['$session_id', session],
  ['$process_person_profile', oneOf('false', 'false', 'true', '"false"', 'null')],
  ['$ignore_sent_at', oneOf('true', 'false', '"true"')],
  ['capture_internal', oneOf('true', 'false')],
  ['$set', set],
  ['$set_once', set],
  ['$unset', unset],
  ['$groups', oneOf('{"company":"acme"}', '[]', 'null')],
  ['$group_0', valueText],
  ['$group_4', valueText],
  ['$group_type', oneOf('"company"', 'null')],
  ['$group_key', oneOf('"acme"', JSON.stringify('k'.repeat(401)), JSON.stringify('é'.repeat(400)), '7')],
  ['$group_set', anyObjectText],
  ['$anon_distinct_id', oneOf('"anon"', 'null')],
  ['alias', oneOf('"other"', '5')],
  ['$elements', fc.array(element, { maxLength: 3 }).map((elements) => listText(elements))],
  ['$elements_chain', fc.oneof(oneOf('"a:nth-child=\\"1\\""', '""', '3'), stringText)],
  ['$current_url', oneOf('"https://example.com/"', 'null')],
  ['$survey_id', valueText],
  ['$feature_flag', stringText],
  ['$browser', oneOf('"Chrome"', 'null')],
  ['$os_name', oneOf('"iOS"')],
  ['utm_source', stringText],
]

const knownEntry = fc.constantFrom(...known).chain(([key, value]) => fc.tuple(spelt(key), value))
const cookielessEntry = fc.tuple(fc.constant('"$cookieless_mode"'), oneOf('true', 'false', '"yes"', 'null'))
const anyEntry = fc.tuple(fc.oneof(stringText, oneOf('"__proto__"', '"a"', '"b"', '"a\\u0000"')), valueText)

const entries = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.array(fc.oneof({ weight: 3, arbitrary: knownEntry }, anyEntry), { maxLength: 8 }),
  },
  { weight: 1, arbitrary: fc.array(cookielessEntry, { maxLength: 1 }) },
)

const gap = oneOf('', '', ' ', '\n\t')

const properties = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(entries, gap).map(([members, space]) => objectText(members, space)) },
  oneOf('{}', 'null', '[]', '"x"'),
)

type Entry = [string, string]

function maybe(key: string, value: fc.Arbitrary<string>, weight: number): fc.Arbitrary<Entry[]> {
  const entry = fc.tuple(spelt(key), value)
  return fc.oneof(
    { weight, arbitrary: entry.map((one): Entry[] => [one]) },
    { weight: 1, arbitrary: fc.constant<Entry[]>([]) },
  )
}

const fields: fc.Arbitrary<Entry[]> = fc
  .tuple(
    maybe('event', name, 12),
    maybe('distinct_id', distinctId, 6),
    maybe('properties', properties, 9),
    maybe('uuid', uuid, 1),
    maybe('timestamp', timestamp, 2),
    fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, maybe('$set', set, 1), maybe('$set_once', set, 1)),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      maybe('$unset', unset, 1),
      maybe('offset', oneOf('5000', '-1', '1.5', 'null', '"5"', '1e3', '12345678901234567890'), 1),
    ),
    fc.oneof(
      { weight: 6, arbitrary: fc.constant([]) },
      maybe('$distinct_id', distinctId, 1),
      maybe('type', valueText, 1),
      maybe('event', name, 1),
      maybe('properties', properties, 1),
    ),
  )
  .map((parts) => parts.flat() as Entry[]) // maybe yields entries
  .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))

/** An event, mostly an object. */
export const eventText: fc.Arbitrary<string> = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(fields, gap).map(([list, space]) => objectText(list, space)) },
  { weight: 1, arbitrary: valueText },
  // About as deep as an event may be.
  {
    weight: 1,
    arbitrary: fc
      .integer({ min: 124, max: 129 })
      .map((depth) => `{"event":"deep","distinct_id":"u","x":${'['.repeat(depth)}${']'.repeat(depth)}}`),
  },
)

const keyEntry = fc.oneof(
  { weight: 12, arbitrary: oneOf('"phc_test"').map((key): Entry[] => [['"api_key"', key]]) },
  oneOf('"phc_private"', '" phc_test\\n"', '"phc_over"', '"unknown"').map((key): Entry[] => [
    ['"token"', key],
  ]),
  oneOf('""', '5', 'null', '"phx_a"', '"a\\u0000b"', '"\\ud800"').map((key): Entry[] => [['"$token"', key]]),
  fc.constant<Entry[]>([]),
)

const envelope = fc
  .tuple(
    keyEntry,
    fc.array(eventText, { maxLength: 5 }).map((events): Entry[] => [['"batch"', listText(events)]]),
    maybe(
      'sent_at',
      oneOf(
        '"2024-05-01T12:00:10Z"',
        '"2024-05-01T12:00:00.123456+00:00"',
        '"2024-05-01T12:00:10"',
        'null',
        '5',
      ),
      1,
    ),
    fc.oneof(
      { weight: 6, arbitrary: fc.constant([]) },
      maybe('historical_migration', oneOf('true', 'false', 'null', '"yes"'), 1),
    ),
  )
  .map((parts) => parts.flat() as Entry[]) // each part holds entries
  .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))
  .map((list) => objectText(list))

const single = fc.tuple(keyEntry, fields).map(([key, list]) => objectText([...key, ...list]))
const array = fc
  .array(
    fc.tuple(keyEntry, fields).map(([key, list]) => objectText([...list, ...key])),
    { maxLength: 4 },
  )
  .map((events) => listText(events))

/** A whole body. */
export const bodyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: envelope },
  { weight: 3, arbitrary: single },
  { weight: 2, arbitrary: array },
  // A space before, lest it be taken for base64.
  { weight: 1, arbitrary: valueText.map((text) => ` ${text}`) },
)

const alikeName = fc.constantFrom(
  '$browser',
  '$os',
  'plan',
  'price',
  'a',
  'b',
  'planet',
  'utm_source',
  'x'.repeat(70),
)

/** A batch of events whose properties have mostly the names of the event before, in the same order. */
export const alikeBodyText: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(alikeName, { maxLength: 8 }),
    fc.array(fc.tuple(fc.nat(8), fc.nat(2), fc.array(alikeName.chain(spelt), { maxLength: 2 })), {
      maxLength: 6,
    }),
    fc.array(gap, { minLength: 7, maxLength: 7 }),
  )
  .map(([names, changes, gaps]) => {
    let keys = names.map((one) => JSON.stringify(one))
    const events = [keys, ...changes.map(([at, count, put]) => (keys = keys.toSpliced(at, count, ...put)))]
    const printed = events.map((list, event) => {
      const entries = list.map((one, index): Entry => {
        const value = index % 3 === 2 ? `"${index}"` : String(index)
        return [one, `${gaps[(event + index) % gaps.length]}${value}`]
      })
      return objectText(entries, gaps[event])
    })
    const batch = printed.map((text) => `{"event":"e","distinct_id":"u","properties":${text}}`)
    return `{"batch":${listText(batch)},"api_key":"phc_test"}`
  })
