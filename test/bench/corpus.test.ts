import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { buildRequest, eventOfUuid, hashRequest, uuidOf } from '../../bench/capture-request.ts'
import { type CorpusEvent, createCorpus, eventText } from '../../bench/corpus.ts'
import { createRandom } from '../../bench/random.ts'
import { hashEvent, type StoredEvent } from '../../bench/stored-event.ts'

const corpus = createCorpus(7, 'phc_test')

/** Whether the event is one that tells who is who, and little else. */
function isTelling({ template }: CorpusEvent): boolean {
  return !corpus.templates.includes(template)
}

t.test('a seed gives the same corpus and the same request every time, another seed another', async (t) => {
  const again = buildRequest(createCorpus(7, 'phc_test'), 1, 42, 'batch')
  const other = buildRequest(createCorpus(8, 'phc_test'), 1, 42, 'batch')
  const first = buildRequest(corpus, 1, 42, 'batch')
  t.same(again.body, first.body)
  t.notSame(other.body, first.body)
  t.same(hashRequest(again), hashRequest(first))
})

t.test('events have the size, the properties and the variety of what posthog-js sends', async (t) => {
  const events = buildRequest(corpus, 0, 0, 'large').events.filter((event) => !isTelling(event))
  const texts = events.map(eventText)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / texts.length
  t.ok(bytes > 1000 && bytes < 1300, `${bytes} bytes`)
  const counts = texts.map((text) => Object.keys(JSON.parse(text).properties).length)
  t.ok(Math.min(...counts) >= 30 && Math.max(...counts) <= 40)
  t.ok(new Set(events.map(({ template }) => template)).size >= 200)
})

t.test('a visitor keeps to one device, and an event seldom says anything new of the person', async (t) => {
  const events = buildRequest(corpus, 0, 0, 'large').events.filter((event) => !isTelling(event))
  const devices = new Map<number, Set<unknown>>()
  for (const { person, template } of events) {
    const known = devices.get(person) ?? new Set()
    devices.set(person, known.add(template.properties.$raw_user_agent))
  }
  t.ok(devices.size > 500)
  t.ok([...devices.values()].every(({ size }) => size === 1))
  const landings = events.filter(({ template }) => 'utm_campaign' in template.properties)
  t.ok(landings.length > 0 && landings.length < events.length / 10, `${landings.length} of ${events.length}`)
})

t.test('a fifth of the events tell who is who, of few people, and lanes have none in common', async (t) => {
  const requests = (['large', 'historical'] as const).map((shape) => buildRequest(corpus, 0, 100, shape))
  const [realtime, historical] = requests.map(({ events }) => events.map((one) => JSON.parse(eventText(one))))
  const telling = realtime!.filter((_, index) => isTelling(requests[0]!.events[index]!))
  t.ok(telling.length > 150 && telling.length < 250, `${telling.length} of 1000`)
  const ids = new Set(telling.map(({ properties }) => properties.distinct_id))
  t.ok(ids.size > 20 && ids.size <= 36, `${ids.size} ids`)
  for (const name of [
    '$identify',
    '$create_alias',
    '$merge_dangerously',
    '$set',
    '$groupidentify',
    'visited',
  ])
    t.ok(telling.filter(({ event }) => event === name).length > 5, name)
  for (const key of ['$anon_distinct_id', '$unset', '$groups', '$process_person_profile'])
    t.ok(telling.filter(({ properties }) => key in properties).length > 3, key)
  const named = (events: typeof telling): (string | undefined)[] =>
    events.flatMap(({ properties: p }) => [p.distinct_id, p.$anon_distinct_id, p.alias])
  const historicalIds = new Set(named(historical!))
  const common = new Set(named(realtime!).filter((id) => historicalIds.has(id)))
  // Some events name nobody beside their own id, and some an id that may not be merged.
  common.delete(undefined)
  common.delete('null')
  t.same([...common], [])
  t.notOk(historical!.some(({ properties }) => '$groups' in properties || '$group_type' in properties))
})

t.test('a request is what an SDK would send', async (t) => {
  const single = buildRequest(corpus, 0, 1, 'single')
  const body = JSON.parse(Buffer.from(single.body).toString())
  t.equal(body.api_key, 'phc_test')
  t.equal(body.uuid, 'be9c4000-0000-4000-8000-000001000000')
  const historical = buildRequest(corpus, 0, 2, 'historical')
  const envelope = JSON.parse(gunzipSync(historical.body).toString())
  t.equal(envelope.historical_migration, true)
  t.equal(envelope.batch.length, 200)
})

t.test('the bodies that must be refused cannot be read, or name a key that nobody has', async (t) => {
  t.throws(() => gunzipSync(buildRequest(corpus, 0, 3, 'truncated').body))
  const unknown = JSON.parse(Buffer.from(buildRequest(corpus, 0, 4, 'unknownKey').body).toString())
  t.equal(unknown.api_key, 'phc_benchUnknownKeyOfNobody')
})

t.test('a uuid leads back to its event', async (t) => {
  const name = { client: 3, number: 123_456, index: 999 }
  t.equal(uuidOf(name), 'be9c4000-0003-4000-8000-01e2400003e7')
  t.same(eventOfUuid('be9c4000-0003-4000-8000-01e2400003e7'), name)
  t.equal(eventOfUuid('018f3c2a-0752-77f4-8a1b-07527f40c209'), null)
})

t.test(
  'the hash of an event sees every change but the order of properties and what servers add',
  async (t) => {
    const event: StoredEvent = {
      event: 'e',
      distinctId: 'd',
      timestampMs: 1,
      historical: false,
      elementsChain: '',
      properties: { a: 1, b: { c: [1, null] } },
    }
    const same = {
      ...event,
      properties: { b: { c: [1, null] }, $ip: '127.0.0.1', $geoip_city_name: 'X', a: 1 },
    }
    t.same(hashEvent(same), hashEvent(event))
    const others: StoredEvent[] = [
      { ...event, event: 'f' },
      { ...event, distinctId: 'f' },
      { ...event, timestampMs: 2 },
      { ...event, historical: true },
      { ...event, elementsChain: 'a' },
      { ...event, properties: { a: 1 } },
      { ...event, properties: { a: 1, b: { c: [1, 'null'] } } },
      { ...event, properties: { a: 1, b: { c: [1, null] }, d: null } },
    ]
    const hashes = new Set([event, ...others].map((one) => hashEvent(one).toString('hex')))
    t.equal(hashes.size, 9)
  },
)

t.test('random numbers are spread evenly and differ between streams', async (t) => {
  const random = createRandom(1)
  const counts = new Array<number>(10).fill(0)
  for (let i = 0; i < 10_000; i++) counts[random.below(10)]!++
  t.ok(Math.min(...counts) > 900 && Math.max(...counts) < 1100, counts.join(' '))
  t.not(createRandom(1, 2).next(), createRandom(2, 1).next())
  t.equal(createRandom(1, 2).next(), createRandom(1, 2).next())
})
