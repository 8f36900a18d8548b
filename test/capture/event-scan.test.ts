// Sequences of bodies through one tape: heads are kept from body to body, so what is found in one must not depend on
// those before. The oracle reads each body by itself, with JSON.parse and a parser of a few lines.

import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { createRandom, type Random } from '../../bench/random.ts'
import { type ElementsCursor, scanElements } from '../../src/capture/elements-scan.ts'
import { fieldIndex, mappedFirst, propertyIndex } from '../../src/capture/event-keys.ts'
import type { KeyIndex } from '../../src/capture/key-index.ts'
import { createRun } from '../../src/capture/known-run.ts'
import { entrySize } from '../../src/capture/run-layout.ts'
import { expectEnd, openScan } from '../../src/capture/scan.ts'
import {
  clearTape,
  createSpans,
  createTape,
  EventMark,
  readRecord,
  type SpanTape,
} from '../../src/capture/span-tape.ts'
import { isServiceError } from '../../src/errors.ts'
import { isJson } from './json-text.ts'

/** What is known of an event: places of its known keys' values, and whether a key that counts comes twice. */
interface Found {
  start: number
  end: number
  propertyCount: number
  repeats: boolean
  /** `[key, end of what comes before, start, end]`, by key. */
  spans: number[][]
}

interface Entry {
  name: string
  before: number
  start: number
  end: number
}

const spaceRun = /[ \n\r\t]*/y
const bare = /[^\s,\]}]+/y
const quoted = /"(?:[^"\\]|\\.)*"/y

/** Passes what `shape` finds at `at`. */
function pass(text: string, at: number, shape: RegExp): number {
  shape.lastIndex = at
  return shape.test(text) ? shape.lastIndex : at
}

/** The members of the object or array at `at` of a JSON text, and its end. Names are '' in an array. */
function membersAt(text: string, at: number): { entries: Entry[]; end: number } {
  const entries: Entry[] = []
  let before = at + 1
  for (let place = at + 1; ; ) {
    place = pass(text, place, spaceRun)
    if (text[place] === '}' || text[place] === ']') return { entries, end: place + 1 }
    if (text[place] === ',') place = pass(text, place + 1, spaceRun)
    let name = ''
    if (text[at] === '{') {
      const nameEnd = pass(text, place, quoted)
      name = JSON.parse(text.slice(place, nameEnd))
      place = pass(text, pass(text, nameEnd, spaceRun) + 1, spaceRun)
    }
    const start = place
    if (text[place] === '{' || text[place] === '[') place = membersAt(text, place).end
    else place = pass(text, place, text[place] === '"' ? quoted : bare)
    entries.push({ name, before, start, end: place })
    before = place
  }
}

/** The events of a body that is an array of objects, from the text alone. */
function plainEvents(text: string): Found[] {
  return membersAt(text, text.indexOf('[')).entries.map(({ start, end }) => {
    const fields = membersAt(text, start).entries
    const properties = fields.filter(({ name }) => name === 'properties').at(-1)
    const isObject = properties !== undefined && text[properties.start] === '{'
    const inner = isObject ? membersAt(text, properties.start).entries : []
    const known = fields.filter(({ name }) => name !== 'batch' && keyOf(fieldIndex, name) >= 0)
    return {
      start,
      end,
      propertyCount: inner.length,
      repeats: hasDouble(known) || hasDouble(inner),
      spans: [...spansOf(known, fieldIndex), ...spansOf(inner, propertyIndex)].sort(byKey),
    }
  })
}

function byKey([a = 0]: number[], [b = 0]: number[]): number {
  return a - b
}

function keyOf({ names, first }: KeyIndex, name: string): number {
  const index = names.findIndex((one) => Buffer.from(one).toString() === name)
  return index < 0 ? -1 : first + index
}

function hasDouble(entries: Entry[]): boolean {
  return new Set(entries.map(({ name }) => name)).size < entries.length
}

function spansOf(entries: Entry[], index: KeyIndex): number[][] {
  return entries
    .map(({ name, before, start, end }) => [keyOf(index, name), before, start, end])
    .filter(([key = -1]) => key >= 0)
}

/** The same as the scanner sees it; null when it refuses the body. */
function scannedEvents(tape: SpanTape, text: string): Found[] | null {
  const bytes = new Uint8Array(Buffer.from(text))
  const scan = openScan(bytes, false)
  const cursor: ElementsCursor = { resumeAt: -1, count: 0 }
  clearTape(tape)
  try {
    expectEnd(scan, scanElements(scan, tape, text.indexOf('['), cursor, null))
  } catch (error) {
    if (!isServiceError(error, 'payload_unparseable')) throw error
    return null
  }
  const spans = createSpans()
  const found: Found[] = []
  for (let at = 0; at < tape.used; ) {
    at = readRecord(tape, at, spans)
    const { cells, entriesAt, entriesEnd } = spans
    const entries = Array.from({ length: (entriesEnd - entriesAt) / entrySize }, (_, index) => {
      const cell = entriesAt + index * entrySize
      return [...cells.subarray(cell, cell + entrySize)]
    })
    const named = [...spans.entryKeys.subarray(0, spans.entryCount)]
    const byName = named.map((key) => [key, spans.befores[key]!, spans.starts[key]!, spans.ends[key]!])
    const asked = entries.filter(([key = 0]) => key <= mappedFirst)
    if (!isDeepStrictEqual(byName, asked))
      throw new Error(`${JSON.stringify(byName)} is not ${JSON.stringify(asked)}`)
    found.push({
      start: spans.start,
      end: spans.end,
      propertyCount: spans.propertyCount,
      repeats: spans.marks === EventMark.mayRepeat,
      spans: entries.sort(byKey),
    })
  }
  return found
}

/** How the senders of one sequence of bodies print, and how many names they have. */
interface Senders {
  random: Random
  names: string[]
  spaces: string[]
  /** Of a hundred names so many come a second time, and as many are spelt with an escape. */
  oddNames: number
}

const someNames = [
  '$os',
  '$set',
  '$current_url',
  'utm_source',
  'a',
  'b',
  'aa',
  '',
  '$ip',
  'é',
  '$lib',
  'x'.repeat(70),
]
const someSpaces = [[''], ['', ' '], ['', '', '', ' ', '  ', '\n', '\t', '\r\n  ', ' '.repeat(40)]]
const someFields = [
  'event',
  'distinct_id',
  'timestamp',
  'uuid',
  '$set',
  'batch',
  'type',
  'properties',
  'api_key',
]

function createSenders(seed: number): Senders {
  const random = createRandom(seed)
  // From a few names to more than there is room for, and some that leave no room at all.
  const nameCount = random.pick([0, 0, 20, 300, 3000])
  const names = [...someNames, ...Array.from({ length: nameCount }, (_, index) => `name ${index}`)]
  if (random.below(8) === 0) names.push('y'.repeat(30_000), 'z'.repeat(66_000))
  return { random, names, spaces: random.pick(someSpaces), oddNames: random.pick([0, 0, 1, 10]) }
}

function objectOf(senders: Senders, names: string[], printed: (name: string) => string): string {
  const { random, spaces } = senders
  const space = () => random.pick(spaces)
  const odd = () => random.below(100) < senders.oddNames
  const entries = names.map((one, index) => {
    const name = index > 0 && odd() ? names[random.below(index)]! : one
    const escaped = `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}`
    const spelt = name !== '' && odd() ? escaped : name
    return `${space()}"${spelt}"${space()}:${space()}${printed(name)}${space()}`
  })
  return `{${entries.join(',')}${entries.length === 0 ? space() : ''}}`
}

/** An array of events. Names come mostly in the same order, a few of them left out or changed about. */
function bodyOf(senders: Senders): string {
  const { random, names } = senders
  const value = () =>
    random.pick([
      '1',
      '"x"',
      'null',
      '-0.5e3',
      '[1, {"a":[]}]',
      '{"$os":{"a":1}}',
      '"\\u0000\\ud800"',
      'true',
      '""',
    ])
  const events = Array.from({ length: 1 + random.below(5) }, () => {
    const start = random.below(4) === 0 ? random.below(names.length) : 0
    const some = names.slice(start, start + random.below(random.below(10) === 0 ? 1500 : 14))
    const kept = some.filter(() => random.below(6) > 0)
    if (random.below(5) === 0) kept.push(...kept.splice(0, random.below(3)))
    const properties = () => (random.below(20) === 0 ? value() : objectOf(senders, kept, value))
    const fields = someFields.filter(() => random.below(4) > 0)
    return objectOf(senders, fields, (name) => (name === 'properties' ? properties() : value()))
  })
  return `[${events.join(',')}]`
}

/** The body with one of its bytes changed, left out or put in, or without its end. */
function damaged(random: Random, text: string): string {
  const at = 1 + random.below(text.length - 1)
  const put = random.pick(['', '', ' ', '"', '\\', ',', ':', '{', '}', ']', '0', '\n', '\u0001', 'a'])
  return text.slice(0, at) + put + (random.below(4) === 0 ? '' : text.slice(at + random.below(2)))
}

/** Plays a sequence of bodies. Returns what was wrong first, and counts. */
function play(
  tape: SpanTape,
  seed: number,
  bodyCount: number,
  counts: { events: number; refused: number; repeats: number },
): string | null {
  let senders = createSenders(seed)
  for (let body = 0; body < bodyCount; body++) {
    // One thread scans the bodies of many senders.
    if (body % 10 === 9) senders = { ...createSenders(seed * 1000 + body), random: senders.random }
    const whole = bodyOf(senders)
    const text = senders.random.below(4) === 0 ? damaged(senders.random, whole) : whole
    const bytes = Buffer.from(text).toString('latin1')
    const found = scannedEvents(tape, text)
    if ((found !== null) !== isJson(text)) return `seed ${seed} body ${body}: ${text}`
    if (found === null) counts.refused++
    if (found === null || text !== whole) continue
    for (const [index, expected] of plainEvents(bytes).entries()) {
      const event = found[index]
      counts.events++
      if (expected.repeats) counts.repeats++
      const isSame = expected.repeats
        ? event?.repeats === true && event.start === expected.start && event.end === expected.end
        : JSON.stringify({ ...event, repeats: false }) === JSON.stringify(expected)
      if (!isSame) return `seed ${seed} body ${body}: ${text}\n${JSON.stringify([event, expected])}`
    }
  }
  return null
}

/** Properties are scanned in runs where they can be; JavaScript must be able to do without. */
const tapes = { 'in runs': () => createTape(), 'by JavaScript alone': () => createTape(createRun(null)) }

for (const [way, tapeOf] of Object.entries(tapes)) {
  t.test(`finds in each of many bodies what stands there, whatever came before, ${way}`, async (t) => {
    const counts = { events: 0, refused: 0, repeats: 0 }
    for (let seed = 1; seed <= 7; seed++) t.equal(play(tapeOf(), seed, 60, counts), null)
    t.ok(counts.events > 700 && counts.refused > 40 && counts.repeats > 50, JSON.stringify(counts))
  })

  t.test(`tells events apart beyond 32 bits of them, ${way}`, async (t) => {
    const tape = tapeOf()
    const text = '[{"event":1,"properties":{"a":1}},{"event":1,"properties":{"a":1,"$os":1}}]'
    const expected = plainEvents(text)
    // The second event of these would have the number that stands for "never".
    tape.generation = -2
    t.same(scannedEvents(tape, text), expected)
    t.same(scannedEvents(tape, text), expected)
  })
}
