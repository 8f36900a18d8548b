// Both ways of scanning properties over the same texts: in runs, and by JavaScript alone, which event-scan.test.ts and
// decode-oracle.test.ts hold against JSON.parse. They must leave the same on the tape, learn the same heads, repair the
// same escapes and refuse the same bytes.

import t, { type Test } from 'tap'
import { createRandom } from '../../bench/random.ts'
import { scanElements, scanPiece } from '../../src/capture/elements-scan.ts'
import { nextEvent, scanAlike } from '../../src/capture/event-scan.ts'
import { noHead } from '../../src/capture/key-heads.ts'
import { createRun, passRun } from '../../src/capture/known-run.ts'
import {
  layoutNumber,
  memoryBytes,
  recordHeadSize,
  runSize,
  windowBytesMax,
} from '../../src/capture/run-layout.ts'
import { openScan } from '../../src/capture/scan.ts'
import { clearTape, createTape, type SpanTape } from '../../src/capture/span-tape.ts'
import { isServiceError } from '../../src/errors.ts'

/** What is used here of a part of JavaScript that TypeScript counts among browsers' things. */
declare const WebAssembly: { Module: new (bytes: Uint8Array) => object }

/** Everything that scanning an array of events leaves, or the refusal. */
function outcome(tape: SpanTape, text: Uint8Array): string {
  const bytes = new Uint8Array(text)
  const scan = openScan(bytes, true)
  const cursor = { resumeAt: -1, count: 0 }
  clearTape(tape)
  try {
    const end = scanElements(scan, tape, 0, cursor, null)
    const cells = recordsOf(tape).join()
    const { deepest, lastEscape, hasEscapes } = scan
    const heads = tape.propertyHeads.count
    const repaired = Buffer.from(bytes).toString('latin1')
    return JSON.stringify({ end, cursor, deepest, lastEscape, hasEscapes, heads, cells, repaired })
  } catch (error) {
    if (!isServiceError(error, 'payload_unparseable')) throw error
    return error.detail
  }
}

/** The records of a tape, but for what only runs tell of them: the cells 5 to 8, and those behind the entries. */
function recordsOf({ cells, used }: SpanTape): number[] {
  const known: number[] = []
  for (let at = 0; at < used; at += cells[at]!) {
    const size = cells[at]! - Math.max(cells[at + 5]!, 0) * runSize
    known.push(size, ...cells.subarray(at + 1, at + 5), ...cells.subarray(at + recordHeadSize, at + size))
  }
  return known
}

/** Two tapes for the same texts. */
interface Ways {
  readonly runs: SpanTape
  readonly plain: SpanTape
}

/** Ways that know the heads of `text`. */
function waysThatKnow(text: string): Ways {
  const ways = { runs: createTape(), plain: createTape(createRun(null)) }
  for (let time = 0; time < 3; time++) both(ways, text)
  return ways
}

/** The outcome of each way. */
function both({ runs, plain }: Ways, text: string | Uint8Array): [string, string] {
  const bytes = new Uint8Array(Buffer.from(text))
  return [outcome(runs, bytes), outcome(plain, bytes)]
}

/** Scans all texts, and shows the first whose two outcomes differ. Returns how many were no JSON. */
function compare(t: Test, ways: Ways, texts: Iterable<string | Uint8Array>): number {
  let refused = 0
  for (const text of texts) {
    const [inRuns, plainly] = both(ways, text)
    if (inRuns.startsWith('failed')) refused++
    if (inRuns === plainly) continue
    t.equal(inRuns, plainly, Buffer.from(text).toString())
    break
  }
  return refused
}

const eventOf = (properties: string) => `[{"event":"e","properties":${properties}}]`

const properties =
  `{"$os":"iOS","plan":"a","$screen_width":390,"price":-0.25,"on":true,"off":false,"none":null,"empty":"",` +
  `"$current_url":"https://example.com/product/x33gv8?ref=kfws22eide","$a_name_of_more_than_16_bytes":"é漢😀",` +
  `"long":"${'0123456789'.repeat(9)}","items":[{"$os":1}],"chain":"a \\"b\\"","many":1e3,"utm_source" : 0 , "last":1}`

t.test('passes all members up to the first that is not plain', async (t) => {
  const text = eventOf(properties)
  const { runs } = waysThatKnow(text)
  const { run } = runs
  const { passes } = run
  if (passes === null) throw new Error('needs what npm run build makes, and a processor with SIMD')
  const scan = openScan(new Uint8Array(Buffer.from(text)), true)
  const at = text.indexOf('{"$os"')
  clearTape(runs)
  const next = passRun(run, passes, scan, noHead, at, 1000, 0)
  t.not(next, noHead, 'the head of the number with an exponent was guessed')
  const [slash, end] = ['\\"b\\"', ',"many"'].map((part) => Buffer.from(text.split(part)[0]!).length)
  t.same([...run.left.subarray(1, 6)], [end, 13, 4 * 3, slash! + 4 - 1, 4])
  t.same([...run.cells.subarray(1, 4)], [at + 1, at + 7, at + 12], 'of $os')
})

t.test('passes whole events up to the first that is not plain', async (t) => {
  const alike = '{"event":"e","properties":{"a":[{}],"$ip":1},"uuid":"u"}'
  const strange = alike.replace('1', '1e1')
  const text = `[${alike},\n ${alike},${strange},${alike}]`
  const { runs } = waysThatKnow(text)
  const scan = openScan(new Uint8Array(Buffer.from(text)), true)
  clearTape(runs)
  t.equal(scanAlike(scan, runs, 1), 2)
  t.equal(nextEvent(runs), text.indexOf(strange))
  t.same([scan.deepest, runs.propertyCount], [4, 2])
  t.equal(scanAlike(scan, runs, nextEvent(runs)), 0, 'none of it is kept')
  t.equal(scanAlike(scan, runs, text.lastIndexOf(alike)), 1)
  t.equal(nextEvent(runs), text.length - 1)
})

t.test('leaves a module of another build alone', async (t) => {
  // A module that holds nothing but its number.
  const moduleOf = (layout: number) => {
    const number = [0, 7, 14, 21].map((shift) => ((layout >>> shift) & 0x7f) | 0x80)
    const globals = [6, 10, 1, 0x7f, 0, 0x41, ...number, (layout >>> 28) & 0x7f, 0x0b]
    const exported = [7, 10, 1, 6, ...Buffer.from('layout'), 3, 0]
    return new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, ...globals, ...exported))
  }
  t.not(createRun(moduleOf(layoutNumber)).passes, null)
  t.equal(createRun(moduleOf(layoutNumber - 1)).passes, null, 'whose memory is as large')
  t.equal(createRun(moduleOf(memoryBytes)).passes, null, 'of a build that had no other number')
})

t.test('passes nothing of an earlier text in one of no bytes', async (t) => {
  const text = '{"event":"e","properties":{"$ip":1}},'
  const { runs } = waysThatKnow(`[${text.slice(0, -1)}]`)
  const pieceOf = (part: string) => {
    clearTape(runs)
    return scanPiece(openScan(new Uint8Array(Buffer.from(part)), true), runs)
  }
  t.same(pieceOf(`${text}{`), { kind: 'cut', place: text.length })
  t.same(pieceOf(''), { kind: 'cut', place: 0 })
})

/** The text with each of `bytes` in place of each of its own but the first, one at a time. */
function* changed(text: Buffer, bytes: string): Generator<Buffer> {
  for (let at = 1; at < text.length; at++) {
    for (const byte of Buffer.from(bytes)) {
      const copy = Buffer.from(text)
      copy[at] = byte
      yield copy
    }
  }
}

t.test('sees the same wherever a text is cut and whichever byte is another', async (t) => {
  const text = Buffer.from(eventOf(properties))
  const ways = waysThatKnow(text.toString())
  const cuts = Array.from(text, (_, size) => text.subarray(0, size))
  t.equal(compare(t, ways, cuts), text.length, 'nothing is whole')
  t.ok(compare(t, ways, changed(text, '\0\u0001\u001f "\\,:{}[]0e.-tn\n\t\u007f\u00c3')) > 1000)
})

t.test('sees the same in strings of every length, with every kind of byte at every place', async (t) => {
  const ways = waysThatKnow(eventOf('{"a":"","$ip":1}'))
  const kinds = ['"', '\\', '\\"', '\\n', '\\u0000', '\\ud800', '\0', '\u001f', ' ', '!', '#', '\u007f', 'é']
  function* texts() {
    for (let size = 0; size <= 64; size++) {
      for (let at = 0; at <= size; at++) {
        const kind = kinds[(at + size * 5) % kinds.length]!
        yield eventOf(`{"a":"${'x'.repeat(at)}${kind}${'x'.repeat(size - at)}","$ip":1}`)
        yield eventOf(`{"${'x'.repeat(at)}${kind}${'x'.repeat(size - at)}":1,"$ip":1}`)
      }
    }
  }
  t.ok(compare(t, ways, texts()) > 300)
})

t.test('sees the same in numbers and literals of all shapes', async (t) => {
  const ways = waysThatKnow(eventOf('{"a":1,"$ip":1}'))
  const right = [
    '0',
    '-0',
    '10',
    '-1.5',
    '0.0',
    '1e5',
    '1E+5',
    '-0.1e-10',
    '9'.repeat(70),
    `0.${'0'.repeat(40)}`,
  ]
  const wrong = [
    '00',
    '01',
    '-',
    '--1',
    '+1',
    '.5',
    '1.',
    '1.e5',
    '1e',
    '1e+',
    '1a',
    '-a',
    '1 2',
    '0x1',
    '/',
    ':',
  ]
  const literals = ['tru', 'truE', 'truex', 'true1', 'nul', 'nulll', 'fals', 'falsf', 'falsex', 'falsee', 'x']
  const texts = (values: string[]) =>
    values.flatMap((value) => [eventOf(`{"a":${value},"$ip":1}`), eventOf(`{"a":${value}}`)])
  t.equal(compare(t, ways, texts([...right, 'true', 'false', 'null'])), 0)
  t.equal(compare(t, ways, texts([...wrong, ...literals])), 2 * (wrong.length + literals.length))
})

t.test(
  'sees the same in containers of all shapes, wherever they are cut and whichever byte is another',
  async (t) => {
    const eventWith = (value: string) => `${eventOf(`{"a":${value},"$ip":1}`).slice(0, -2)},"f":${value}}]`
    const ways = waysThatKnow(eventWith('1'))
    const deep = (depth: number) => `${'[{"a":'.repeat(depth)}0${'}]'.repeat(depth)}`
    const right = [
      '{}',
      '[]',
      '[[],{},[[]]]',
      '{"a":{},"b":[1,{"c":null}]}',
      '[ 1 , {"a" : "\\n\\/" ,"b":[ ]} ]',
      '["\\u0000"]',
    ]
    right.push(...[15, 16, 31, 32, 33, 62, 63, 64, 65].map(deep))
    const wrong = [
      '[,]',
      '[1,]',
      '{,}',
      '{"a"}',
      '{"a":1,}',
      '{1:2}',
      '[1}',
      '{"a":1]',
      '["\\x"]',
      '[1 2]',
      '["a""b"]',
      '[[1]',
    ]
    t.equal(compare(t, ways, right.map(eventWith)), 0)
    t.equal(compare(t, ways, wrong.map(eventWith)), wrong.length)
    const whole = Buffer.from(eventWith(right[4]!))
    const cuts = Array.from({ length: whole.length - 1 }, (_, index) => whole.subarray(0, index + 1))
    t.ok(compare(t, ways, [...cuts, ...changed(whole, '\0 "\\,:{}[]0tn/')]) > 500)
  },
)

t.test('sees the same in events of which some are strange, over many windows', async (t) => {
  const random = createRandom(11)
  const event = (index: number) => {
    const properties = `{"$os":"iOS","text":"${'x'.repeat(random.below(2000))}","items":[${index}],"$ip":null}`
    const fields = random.pick(['', '', '', ',"more":{"batch":[]}', ',"batch":[1]', ',"uuid":2'])
    const strange = random.pick(['', '', '', '', '', '\\u0041', `${'y'.repeat(6000)}`])
    return `{"event":"e${strange}","properties":${properties}${fields},"uuid":"u"}`
  }
  const body = () =>
    `[${Array.from({ length: 120 }, (_, index) => event(index)).join(random.pick([',', ', ']))}]`
  const ways = waysThatKnow(body())
  const bodies = Array.from({ length: 12 }, body)
  t.ok(bodies.every((text) => text.length > 2 * windowBytesMax))
  t.equal(compare(t, ways, bodies), 0)
})

t.test('sees names that come twice', async (t) => {
  const pair = (one: string, other: string) => eventOf(`{"x":0,"${one}":1,"y":2,"${other}":3,"z":4}`)
  const ways = waysThatKnow(pair('a', 'b'))
  const names = ['a', 'b', '$os', '$ip', 'x', 'z']
  const texts = names.flatMap((one) => names.map((other) => pair(one, other)))
  t.equal(compare(t, ways, [...texts, ...texts, ...texts]), 0)
})

t.test('sees the same wherever the window ends', async (t) => {
  const values = ['"v"', '12', '-0.5', 'true', 'false', '"some more text than that"', 'null', '""']
  const member = (index: number) => `"name ${index}":${values[index % values.length]}`
  const members = (count: number) => Array.from({ length: count }, (_, index) => member(index)).join(',')
  const long = (pad: number) => eventOf(`{"pad":"${'x'.repeat(pad)}",${members(1000)},"long":"","$os":1}`)
  t.ok(members(1000).length < windowBytesMax)
  const sizeLeft = windowBytesMax - members(1000).length
  const ways = waysThatKnow(long(0))
  function* texts() {
    for (let pad = sizeLeft; pad < sizeLeft + 130; pad++) yield long(pad)
    for (const size of [windowBytesMax - 1024, windowBytesMax, windowBytesMax * 3])
      for (let more = -70; more < 4; more++)
        yield long(0).replace('"long":"', `"long":"${'x'.repeat(size + more)}`)
  }
  t.equal(compare(t, ways, texts()), 0)
  // The text begins with a brace here, as its window does, and ends at the window's end or next to it.
  const whole = Buffer.from(long(sizeLeft))
  const start = whole.indexOf('{"pad"')
  const cuts = Array.from({ length: 80 }, (_, more) => whole.subarray(0, start + windowBytesMax - 60 + more))
  t.equal(compare(t, ways, cuts), cuts.length)
})

t.test('sees the same in senders that take turns, whatever their white space and order', async (t) => {
  const random = createRandom(7)
  const ways = waysThatKnow(eventOf('{}'))
  const names = Array.from({ length: 1200 }, (_, index) => (index % 9 === 0 ? '$ip' : `name ${index}`))
  names.push('$os', 'utm_source', '$current_url', 'z'.repeat(300))
  const values = [
    '1',
    '"x"',
    '"\\u0000"',
    '{}',
    '[{"a":1}]',
    'null',
    '1e9',
    '"é"',
    '-5',
    `"${'y'.repeat(40)}"`,
  ]
  function* bodies() {
    for (let body = 0; body < 600; body++) {
      const gap = random.pick(['', '', '', ' ', '\n  '])
      const first = random.below(names.length)
      const some = names.slice(first, first + random.below(60)).filter(() => random.below(9) > 0)
      const entries = some.map((name) => `${gap}"${name}":${gap}${random.pick(values)}`)
      const event = `{"properties":{${entries.join(`${random.pick(['', gap])},`)}${gap}}}`
      yield `[${Array.from({ length: 1 + random.below(4) }, () => event).join(',')}]`
    }
  }
  t.equal(compare(t, ways, bodies()), 0)
})
