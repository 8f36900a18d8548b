import t from 'tap'
import type { OperationKind } from '../../src/identity/operations.ts'
import { personUpdate } from '../../src/identity/person-update.ts'
import type { Micros } from '../../src/lib/clock.ts'

function update(members: Record<string, string>, kind: OperationKind = 'update') {
  // 2024-05-01T12:00:00.123456Z in Micros
  const micros = 1_714_564_800_123_456 as Micros
  const { set, setOnce, unset } = personUpdate(new Map(Object.entries(members)), kind, micros)
  return { set: Object.fromEntries(set), setOnce: Object.fromEntries(setOnce), unset }
}

t.test('derives values and first values from what describes the visit', async (t) => {
  t.same(update({ $browser: '"Chrome"', utm_source: '"x"', $referrer: 'null' }), {
    set: { $browser: '"Chrome"', utm_source: '"x"', $referrer: 'null' },
    setOnce: { $initial_browser: '"Chrome"', $initial_utm_source: '"x"', $initial_referrer: 'null' },
    unset: [],
  })
})

t.test('leaves what the event sets itself', async (t) => {
  const members = {
    $browser: '"Chrome"',
    $set: '{"$browser":"mine"}',
    $set_once: '{"$initial_browser":null}',
  }
  t.same(update(members), { set: { $browser: '"mine"' }, setOnce: { $initial_browser: 'null' }, unset: [] })
})

t.test('takes $os_name for a missing $os and never stores it (60)', async (t) => {
  t.same(update({ $os_name: '"iOS"' }), {
    set: { $os: '"iOS"' },
    setOnce: { $initial_os: '"iOS"' },
    unset: [],
  })
  t.same(update({ $os: '"Mac"', $os_name: '"iOS"', $set: '{"$os_name":"x"}' }), {
    set: { $os: '"Mac"' },
    setOnce: { $initial_os: '"Mac"' },
    unset: [],
  })
  t.same(update({ $os_name: '""' }), { set: {}, setOnce: {}, unset: [] })
})

t.test('takes lists and objects of names to unset (69)', async (t) => {
  t.same(update({ $unset: '["a",1,"\\u0062",null]' }).unset, ['a', 'b'])
  t.same(update({ $unset: '{"a":1,"b":null}' }).unset, ['a', 'b'])
  t.same(update({ $unset: '"a"' }).unset, [])
  const both = update({ $set: '{"a":1}', $set_once: '{"a":2,"b":1}', $unset: '["a"]' })
  t.same(both, { set: {}, setOnce: { b: '1' }, unset: ['a'] }, 'unsetting comes last')
})

t.test('takes anything but an object for nothing (62)', async (t) => {
  t.same(update({ $set: '"oops"', $set_once: '[1]' }), { set: {}, setOnce: {}, unset: [] })
})

t.test('notes when a survey was seen, unless the event does', async (t) => {
  t.same(update({}, 'survey').set, { $survey_last_seen_date: '"2024-05-01T12:00:00.123Z"' })
  t.same(update({ $set: '{"$survey_last_seen_date":1}' }, 'survey').set, { $survey_last_seen_date: '1' })
})
