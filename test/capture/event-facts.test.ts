// What scanning in WebAssembly tells of single values, against the functions that decoding asks otherwise.

import t from 'tap'
import { createRandom } from '../../bench/random.ts'
import { BornIds } from '../../src/capture/born-ids.ts'
import { addToDedupKey, beginDedupKey, endDedupKey } from '../../src/capture/dedup-key.ts'
import { scanElements } from '../../src/capture/elements-scan.ts'
import {
  addIds,
  appendId,
  appendName,
  copyBornId,
  copyDedupKey,
  copyUuid,
  toldTimestamp,
} from '../../src/capture/event-facts.ts'
import { openScan } from '../../src/capture/scan.ts'
import {
  clearTape,
  createSpans,
  createTape,
  type EventSpans,
  readRecord,
} from '../../src/capture/span-tape.ts'
import { TextArena } from '../../src/capture/text-arena.ts'
import { parseTimestamp } from '../../src/capture/timestamp.ts'
import { formatUuid, parseUuidText } from '../../src/lib/uuid.ts'

const tape = createTape()
const bornIds = new BornIds(tape.run.bornSlots)

/** What is told of an event, all else null. */
interface Told {
  readonly uuid: string | null
  readonly micros: number | null
  readonly name: string | null
  readonly id: string | null
  readonly dedupKey: number[] | null
  readonly bornId: string | null
}

const nothing: Told = { uuid: null, micros: null, name: null, id: null, dedupKey: null, bornId: null }

/** What is told of each of these events, as JSON text, once their heads are known. */
function toldOf(events: readonly string[], projectId = 1): Told[] {
  const text = `[${events.join(',')}]`
  const bytes = new Uint8Array(Buffer.from(text))
  for (let time = 0; time < 3; time++) {
    clearTape(tape)
    scanElements(openScan(bytes, true), tape, 0, { resumeAt: -1, count: 0 }, null)
  }
  addIds(tape.run, tape.used, projectId)
  const spans = createSpans()
  const told: Told[] = []
  for (let at = 0; at < tape.used; ) {
    at = readRecord(tape, at, spans)
    told.push(toldHere(spans))
  }
  return told
}

function toldHere(spans: EventSpans): Told {
  const words = new Int32Array(8)
  const key = new Uint32Array(2)
  const bytes = new Uint8Array(words.buffer)
  const textOf = (append: typeof appendId): string | null => {
    const arena = new TextArena(4)
    return append(spans, arena) ? Buffer.from(arena.bytes.subarray(0, arena.size)).toString() : null
  }
  return {
    uuid: copyUuid(spans, words, 0) ? formatUuid(bytes, 0) : null,
    micros: toldTimestamp(spans),
    name: textOf(appendName),
    id: textOf(appendId),
    dedupKey: copyDedupKey(spans, key, 0) ? [...key] : null,
    bornId: copyBornId(spans, words, 4) ? formatUuid(bytes, 16) : null,
  }
}

/** The key of an event of project 1, as it is made of all others. */
function plainKey(uuid: string, name: string, id: string): number[] {
  const bytes = new Uint8Array(16)
  parseUuidText(uuid, bytes, 0)
  const key = new Uint32Array(2)
  beginDedupKey(1)
  for (const text of [bytes, Buffer.from(name), Buffer.from(id)]) {
    addToDedupKey(new DataView(text.buffer, text.byteOffset, text.length), 0, text.length)
  }
  endDedupKey(key, 0)
  return [...key]
}

/** Remembers an id as decoding does, and returns its born id. */
function remember(projectId: number, id: string): string {
  const arena = new TextArena(256)
  const bytes = Buffer.from(id)
  arena.append(bytes, 0, bytes.length)
  const words = new Int32Array(4)
  bornIds.write(projectId, arena, words, 0)
  return formatUuid(new Uint8Array(words.buffer), 0)
}

const uuid = '018f3c2a-07e9-74c2-8a1b-f7e94c20beb9'
const stamp = '2024-05-01T00:00:00.447Z'

t.test('tells of events as SDKs send them', async (t) => {
  const bornId = remember(1, 'u1')
  const rest = `"uuid":"${uuid}","timestamp":"${stamp}"}`
  const browser = `{"event":"$pageview","properties":{"$os":"a","distinct_id":"u1"},${rest}`
  const server = `{"distinct_id":"u1","event":"$pageview","properties":{"$os":"a"},${rest}`
  const dedupKey = plainKey(uuid, '$pageview', 'u1')
  const told = { uuid, micros: Date.parse(stamp) * 1000, name: '$pageview', id: 'u1', dedupKey, bornId }
  t.same(toldOf([browser, server]), [told, told])
  t.same(toldOf([`{"event":"e","properties":{"distinct_id":"u2"}}`]), [{ ...nothing, name: 'e', id: 'u2' }])
})

t.test('tells the ids of the project that is asked for', async (t) => {
  const event = `{"event":"e","properties":{"distinct_id":"shared"},"uuid":"${uuid}"}`
  const [first, second] = [remember(1, 'shared'), remember(2, 'shared')]
  t.not(first, second)
  const [one, two, three] = [1, 2, 3].map((project) => toldOf([event], project)[0]!)
  t.same([one?.bornId, two?.bornId, three?.bornId], [first, second, null])
  t.same(one?.dedupKey, plainKey(uuid, 'e', 'shared'))
  t.notSame(two?.dedupKey, one?.dedupKey)
})

t.test('prefers the distinct_id that decoding prefers', async (t) => {
  const idOf = (fields: string) =>
    toldOf([`{"event":"e","properties":{"distinct_id":"low"},${fields}"uuid":"${uuid}"}`])[0]?.id
  t.equal(idOf('"distinct_id":"top",'), 'top')
  t.equal(idOf('"distinct_id":null,'), null)
  t.equal(idOf('"distinct_id":5,'), null)
  t.equal(idOf('"$distinct_id":"other",'), null)
})

t.test('tells of texts of every length up to its limits', async (t) => {
  const letters = 'é0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP'
  const wrong: string[] = []
  let count = 0
  for (let idSize = 0; idSize <= 43; idSize++) {
    for (const nameSize of [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33]) {
      const id = Buffer.from(letters)
        .subarray(2, 2 + idSize)
        .toString()
      const name = Buffer.from(letters).subarray(0, nameSize).toString().replace('\ufffd', 'x')
      const bornId = remember(1, id)
      const [told] = toldOf([`{"event":"${name}","properties":{"distinct_id":"${id}"},"uuid":"${uuid}"}`])
      const isTold = idSize > 0 && idSize <= 40 && name !== '' && Buffer.byteLength(name) <= 32
      const expected = isTold
        ? { uuid, micros: null, name, id, dedupKey: plainKey(uuid, name, id), bornId }
        : { ...nothing, uuid }
      if (JSON.stringify(told) !== JSON.stringify(expected)) wrong.push(`${name} ${id}`)
      if (isTold) count++
    }
  }
  t.same(wrong, [])
  t.equal(count, 40 * 10)
})

t.test('leaves escapes to JavaScript', async (t) => {
  const eventOf = (name: string, id: string) =>
    `{"event":"${name}","properties":{"distinct_id":"${id}"},"uuid":"${uuid}"}`
  const events = [eventOf('a\\n', 'u'), eventOf('a', '\\\\u'), eventOf('a', `${'u'.repeat(35)}\\"`)]
  t.same(toldOf(events), Array(3).fill({ ...nothing, uuid }))
})

/** `text` with each byte of `bytes` in place of each of its own, one at a time. */
function changed(text: string, bytes: string): string[] {
  return [...text].flatMap((_, at) =>
    [...bytes].map((byte) => `${text.slice(0, at)}${byte}${text.slice(at + 1)}`),
  )
}

t.test('tells the uuids with hyphens that decoding takes, and no others', async (t) => {
  const texts = [uuid, uuid.toUpperCase(), ...changed(uuid, '09afAFgG/:@`-x{')]
  texts.push(uuid.replaceAll('-', ''), `{${uuid}}`, uuid.slice(1), `${uuid}0`, `${uuid.slice(0, 35)}é`)
  const told = toldOf(texts.map((text) => `{"event":"e","properties":{},"uuid":"${text}"}`))
  const bytes = new Uint8Array(16)
  const expected = texts.map((text) =>
    text.length === 36 && parseUuidText(text, bytes, 0) ? formatUuid(bytes, 0) : null,
  )
  t.same(
    told.map(({ uuid }) => uuid),
    expected,
  )
  t.ok(expected.filter((one) => one !== null).length > 190 && expected.includes(null))
})

t.test('tells the timestamps that browsers print as decoding reads them, and no others', async (t) => {
  const random = createRandom(3)
  const two = (value: number) => String(value).padStart(2, '0')
  const dates = Array.from({ length: 3000 }, () => {
    const year = String(random.pick([random.below(10_000), 2000 + random.below(40)])).padStart(4, '0')
    const day = `${year}-${two(random.below(14))}-${two(random.below(33))}`
    return `${day}T${two(random.below(25))}:${two(random.below(61))}:${two(random.below(62))}.${random.below(10)}07Z`
  })
  const ends = ['0000', '1900', '2000', '2023', '2024', '2100', '9999'].flatMap((year) =>
    ['01-01', '02-28', '02-29', '03-01', '12-31', '04-31'].map((day) => `${year}-${day}T23:59:60.999Z`),
  )
  const texts = [stamp, ...dates, ...ends, ...changed(stamp, '09/:-TtZz. +')]
  texts.push('2024-05-01', '2024-05-01T00:00:00Z', '2024-05-01T00:00:00.447+00:00')
  const told = toldOf(texts.map((text) => `{"event":"e","properties":{},"timestamp":"${text}"}`))
  const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
  const expected = texts.map((text) => (iso.test(text) ? parseTimestamp(text) : null))
  t.same(
    told.map(({ micros }) => micros),
    expected,
  )
  const count = expected.filter((micros) => micros !== null).length
  t.ok(count > 2000 && count < texts.length - 300, `${count} of ${texts.length}`)
})
