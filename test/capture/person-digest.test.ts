import t from 'tap'
import { keyTexts, Property } from '../../src/capture/event-keys.ts'
import { countsAll, digestBits, hasDigest, isQuiet, PersonDigest } from '../../src/capture/person-digest.ts'
import { suppressedKeys } from '../../src/capture/suppression.ts'
import { kindOf } from '../../src/identity/operations.ts'
import { capturedBatch, type SentEvent } from '../identity/captured.ts'
import { plainDigest } from './plain-digest.ts'

/** The digest of an event among others. */
function digestOf(event: SentEvent): number {
  const batch = capturedBatch([
    { event: 'before', distinct_id: 'a', properties: { $set: { some: 'thing' } } },
    { distinct_id: 'a', ...event },
    { event: 'after', distinct_id: 'a', properties: { $browser: 'Chrome' } },
  ])
  return batch?.digests[1] ?? Number.NaN
}

function digest(properties: object, event = 'e'): number {
  return digestOf({ event, properties })
}

const page = { $current_url: '/a', $browser: 'Chrome', utm_source: 'x', $set: { plan: 'free' } }

t.test('is the same for the same, and for another page', async (t) => {
  t.equal(digest(page), digest({ ...page, unmapped: 1 }))
  t.equal(digest(page), digest({ ...page, $current_url: '/b?c="}{,\\' }))
  t.equal(digest(page), digest({ ...page, $browser: { nested: ['}', 1] } }))
  t.ok(digest(page) > 0 && digest(page) < 2 ** digestBits)
})

t.test('differs for everything that may change the person', async (t) => {
  const { $browser: _, ...withoutBrowser } = page
  const others = [
    { ...page, utm_source: 'y' },
    { ...page, utm_source: 'xx' },
    { ...page, utm_source: 1 },
    { ...page, utm_source: 12 },
    { ...page, utm_source: 123 },
    { ...page, $set: { plan: 'paid' } },
    { ...page, $set: { plan: 'free', $browser: 'Safari' } },
    { ...page, $set_once: {} },
    { ...page, $unset: ['plan'] },
    { ...page, $groups: { company: 'acme' } },
    { ...page, $os: 'Linux' },
    { utm_source: 'x', $current_url: '/a', $browser: 'Chrome', $set: { plan: 'free' } },
    withoutBrowser,
  ]
  const digests = new Set([digest(page), ...others.map((other) => digest(other))])
  t.equal(digests.size, others.length + 1)
})

t.test('differs for values that differ in one place, and for what moves from one to the next', async (t) => {
  const lengths = Array.from({ length: 40 }, (_, length) => length)
  const values = lengths.flatMap((at) => ['x'.repeat(at), `${'x'.repeat(at)}y${'x'.repeat(39 - at)}`])
  const digests = new Set(values.map((utm_source) => digest({ utm_source })))
  t.equal(digests.size, values.length)
  const pairs = lengths.map((at) => ({ utm_source: 'x'.repeat(at), utm_medium: 'x'.repeat(39 - at) }))
  t.equal(new Set(pairs.map((pair) => digest(pair))).size, pairs.length)
})

t.test('is the same whatever a suppressed property says, unless it counts all', async (t) => {
  for (const key of suppressedKeys) {
    if (key === '$os_name') continue
    t.equal(digest({ ...page, [key]: 'one' }), digest({ ...page, [key]: 'other' }), key)
    if (key.startsWith('$geoip_')) continue
    for (const event of ['$set', '$identify', '$create_alias', '$merge_dangerously'])
      t.not(digest({ [key]: 'one' }, event), digest({ [key]: 'other' }, event), key)
  }
  t.not(digest({ $set: { $browser: 'a' } }, '$set'), digest({ $set: { $browser: 'a' } }))
})

t.test('counts $os_name, which derives nothing when it is empty', async (t) => {
  t.not(digest({ ...page, $os_name: '' }), digest({ ...page, $os_name: 'iOS' }))
})

t.test('tells who says only what is suppressed', async (t) => {
  const { $current_url, $browser } = page
  t.equal(isQuiet(digest({ $current_url, $browser })), true)
  for (const more of [{ utm_source: 'x' }, { $os_name: 'iOS' }, { $set: {} }, { $unset: ['a'] }])
    t.equal(isQuiet(digest({ $current_url, $browser, ...more })), false)
  t.equal(isQuiet(digest({ $current_url, $browser }, '$set')), false)
})

t.test('takes what stands at the top level for the same as in properties', async (t) => {
  const { $set, ...properties } = page
  t.equal(digestOf({ event: 'e', properties, $set }), digest(page))
})

t.test('is 0 where no digest tells what an event asks for', async (t) => {
  for (const event of ['$groupidentify', '$exception', '$$heatmap', 'survey shown'])
    t.equal(digest(page, event), 0, event)
  t.equal(digest({ unmapped: 1 }), 0)
  t.equal(digest({ ...page, $process_person_profile: false }), 0)
  t.ok(digest({}, '$set') > 0 && digest({}, '$identify') > 0)
})

t.test('goes by the names that the consumer goes by', async (t) => {
  const kinds = ['$set', '$identify', '$$heatmap', '$exception', 'survey shown', '$create_alias']
  const names = [...kinds, '$groupidentify', '$merge_dangerously', '$pageview', '$snapshot', 'e', '$sets']
  const batch = capturedBatch(names.map((event) => ({ event, distinct_id: 'a', properties: page })))
  if (batch === null) throw new Error('captured')
  t.same(
    names.map((_, index) => batch.digests[index]),
    names.map((_, index) => plainDigest(batch, index)),
  )
  t.equal(new Set(names.map((_, index) => kindOf(batch, index))).size, 8)
  t.equal(hasDigest(-1), true)
  t.equal(countsAll(-1), false)
})

t.test('stays what it was', async (t) => {
  // Digests of the build before may stand in the journal.
  const made = new PersonDigest()
  const text = new DataView(new Uint8Array(Buffer.from('"Chrome"1{"plan":"free"}')).buffer)
  const digests = [false, true].map((countsAll) => {
    made.begin(countsAll)
    made.add(browser, text, 0, 8)
    made.add(Property.alias, text, 8, 9)
    made.add(Property.$set, text, 9, 24)
    return made.end()
  })
  t.same(digests, [1269776036282, 3551536566114])
})

const browser = keyTexts.findIndex((text) => Buffer.from(text).toString() === '"$browser":')

t.test('spreads evenly over all its bits', async (t) => {
  const counts = new Uint32Array(digestBits)
  const made = new PersonDigest()
  const view = new DataView(new ArrayBuffer(8))
  const all = new Set<number>()
  const lower = new Set<number>()
  for (let value = 0; value < 20_000; value++) {
    view.setUint32(4, value)
    made.begin(true)
    made.add(Property.alias, view, 0, 8)
    const digest = made.end()
    all.add(digest)
    lower.add(digest % 2 ** 16)
    for (let bit = 0; bit < digestBits; bit++) counts[bit]! += Math.floor(digest / 2 ** bit) % 2
  }
  t.equal(all.size, 20_000)
  // By chance alone 15,600 of them.
  t.ok(lower.size > 10_000, `${lower.size}`)
  const uneven = [...counts].flatMap((count, bit) =>
    bit > 0 && (count < 9_000 || count > 11_000) ? [`${bit}: ${count}`] : [],
  )
  t.same(uneven, [])
})
