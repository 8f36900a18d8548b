import t from 'tap'
import { propertyIndex } from '../../src/capture/event-keys.ts'
import { captured, dropsOf, refusal, rows } from './tasks.ts'

const key = 'phc_test'

t.test('takes the batch of an event for a field that nobody knows', async (t) => {
  t.same(dropsOf(captured({ api_key: key, batch: [{ event: 'e', batch: 'B' }] })), { distinct_id_missing: 1 })
  t.same(dropsOf(captured({ api_key: key, event: 'e', batch: 'B' })), { distinct_id_missing: 1 })
})

t.test('compares a long key once when the keys of an array differ', async (t) => {
  // Once for each event would be 800 GB of text.
  const others = '{"api_key":"other"},'.repeat(200_000)
  t.match(refusal(`[{"api_key":"${'k'.repeat(4_000_000)}"},${others}0]`), /^api_key_inconsistent:/)
})

t.test('finds the keys of events that no longer fit on the tape', async (t) => {
  const properties = Object.fromEntries(propertyIndex.names.map((name) => [Buffer.from(name), 1]))
  const event = { event: 'e', properties: { ...properties, $cookieless_mode: false }, distinct_id: 'u' }
  const withoutKey = `${JSON.stringify(event)},`.repeat(6_000)
  const withKey = JSON.stringify({ ...event, api_key: key })
  t.equal(captured(`[${withoutKey}${withKey}]`).eventCount, 6_001)
  t.match(refusal(`[${withKey},${withoutKey}${withKey.replace(key, 'other')}]`), /^api_key_inconsistent:/)
})

t.test('builds no objects from elements longer than anybody has', async (t) => {
  const event = { event: '$autocapture', distinct_id: 'u' }
  // As a list of class names this would be more than a thread's heap.
  const elements = `[{"attr__class":[${'1,'.repeat(5_000_000)}1]}]`
  const text = JSON.stringify({ ...event, properties: { $elements: 0 } }).replace(
    '"$elements":0',
    `"$elements":${elements}`,
  )
  const outcome = captured(`{"api_key":"${key}","batch":[${text},${JSON.stringify(event)}]}`)
  t.same(dropsOf(outcome), { event_too_big: 1 })
  t.equal(outcome.eventCount, 1)
})

t.test('keeps the elements of an ordinary page', async (t) => {
  const elements = Array.from({ length: 500 }, (_, index) => ({ tag_name: 'div', attr__id: `row-${index}` }))
  const batch = [{ event: '$autocapture', distinct_id: 'u', properties: { $elements: elements } }]
  t.match(rows({ api_key: key, batch })[0]?.elementsChain, /^div:attr__id="row-0"attr_id="row-0"/)
})
