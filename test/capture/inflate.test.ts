// Both ways of undoing gzip over the same bodies: in WebAssembly and by zlib, which must say the same of all of them.
// What a compressor writes must not be left to zlib, or nothing is gained.

import { constants, crc32, deflateRawSync, gzipSync, inflateRawSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createRandom, type Random } from '../../bench/random.ts'
import { gunzip } from '../../src/capture/gunzip.ts'
import { createInflater, type Inflater, inflate } from '../../src/capture/inflate.ts'
import { bodyAt, bodyMargin, textMargin } from '../../src/capture/inflate-layout.ts'
import {
  blockEnd,
  DeflateWriter,
  distanceExtraBits,
  fixedDistances,
  fixedLiterals,
  type Lengths,
  lengthExtraBits,
  type Symbols,
} from './deflate-writer.ts'

type Bytes = Uint8Array<ArrayBuffer>

const quick = createInflater()
const byZlib = createInflater(null)
const textBytesMax = 1 << 23

function bytesOf(...parts: readonly (Uint8Array | string)[]): Bytes {
  return new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part))))
}

/** A member around a stream that is said to make `text`. */
function member(stream: Uint8Array, text: Uint8Array): Bytes {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(text), 0)
  trailer.writeUInt32LE(text.length, 4)
  return bytesOf(Buffer.from('1f8b0800000000000003', 'hex'), stream, trailer)
}

/** A member around a stream, with the trailer that fits if it is a sound one. */
function memberOf(stream: Uint8Array): Bytes {
  try {
    return member(stream, inflateRawSync(stream))
  } catch {
    return member(stream, Buffer.from('a text'))
  }
}

function outcome(inflater: Inflater, body: Bytes, bytesMax: number): string {
  const { kind, ...rest } = gunzip(body, bytesMax, inflater)
  return 'bytes' in rest
    ? Buffer.from(rest.bytes).toString('latin1')
    : `${kind}: ${rest.code}: ${rest.detail}`
}

/** Whether both ways say the same; the first body of which they do not is shown. */
function isSame(t: Test, body: Bytes, bytesMax = textBytesMax): boolean {
  const kept = body.slice()
  const [quickly, plainly] = [outcome(quick, body, bytesMax), outcome(byZlib, body, bytesMax)]
  if (quickly === plainly && Buffer.compare(body, kept) === 0) return true
  t.fail(`${Buffer.from(body).toString('hex').slice(0, 5000)}: ${quickly.slice(0, 99)}`)
  return false
}

/** Inflates what must not be left to zlib. */
function isTaken(t: Test, body: Bytes, text: Uint8Array): boolean {
  const inflated = inflate(quick, body, textBytesMax)
  if (inflated !== null && Buffer.compare(inflated, text) === 0) return true
  t.fail(
    `${inflated === null ? 'left to zlib' : 'another text'}: ${Buffer.from(body).toString('hex').slice(0, 5000)}`,
  )
  return false
}

const json = Array.from({ length: 12 }, (_, index) => {
  const id = createRandom(index).text(20)
  return JSON.stringify({
    event: '$pageview',
    distinct_id: id,
    properties: { $os: 'iOS', $session_id: `${id}-é` },
  })
}).join(',')

/** Texts of all kinds: `size` bytes or so. */
function texts(random: Random, size: number): Uint8Array[] {
  const noise = Uint8Array.from({ length: size }, () => random.below(256))
  // Each byte half as often as the one before: codes as long as there are.
  const steep = Uint8Array.from({ length: size }, () => Math.clz32(random.next() * 2 ** 32))
  const distance = 1 + random.below(32_768)
  const far = bytesOf(noise.subarray(0, distance), steep, noise.subarray(0, distance))
  return [
    new Uint8Array(0),
    noise.subarray(0, 1),
    noise,
    steep,
    new Uint8Array(size).fill(97),
    bytesOf(noise.subarray(0, 2 + random.below(40)), 'x').subarray(0, size),
    Buffer.alloc(size, noise.subarray(0, 1 + random.below(40))),
    far,
    Buffer.from(json.slice(0, size)),
    Buffer.from(json.repeat(1 + size / json.length)),
  ]
}

t.test('inflates what zlib deflates, of all levels and strategies', async (t) => {
  const random = createRandom(1)
  const { Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED } = constants
  const strategies = [Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED]
  for (const size of [40, 5000, 100_000]) {
    for (const text of texts(random, size)) {
      const levels = size > 5000 ? [0, random.pick([1, 3]), 6, 9] : [0, 1, 3, 6, 9]
      for (const level of levels) {
        const strategy = random.pick(strategies)
        const packed = { level, strategy, memLevel: 1 + random.below(9), windowBits: 9 + random.below(7) }
        if (!isTaken(t, new Uint8Array(gzipSync(text, packed)), text)) return
      }
      if (!isTaken(t, new Uint8Array(gzipSync(text)), text)) return
    }
  }
})

t.test('inflates matches of every length at every distance', async (t) => {
  for (let distance = 1; distance <= 32_768; distance += distance < 70 ? 1 : 1 + (distance >> 1)) {
    const start = Uint8Array.from({ length: distance }, (_, at) => (at * 7919) >>> 3)
    for (const length of [3, 4, 15, 16, 17, 31, 47, 48, 49, 95, 97, 257, 258]) {
      const repeated = Uint8Array.from({ length }, (_, at) => start[at % distance]!)
      const text = bytesOf(start, repeated, 'end')
      if (!isTaken(t, new Uint8Array(gzipSync(text)), text)) return
    }
  }
})

t.test('leaves to zlib what is unusual, and says the same', async (t) => {
  const [one, two] = [bytesOf(gzipSync('one ')), bytesOf(gzipSync('two'))]
  const head = (flags: number, ...more: string[]) => {
    const bytes = bytesOf(one.subarray(0, 10), ...more, one.subarray(10))
    bytes[3] = flags
    return bytes
  }
  const unusual = [
    bytesOf(one, two),
    bytesOf(one, new Uint8Array(64)),
    bytesOf(one, 'behind'),
    bytesOf(one, two.subarray(0, 12)),
    head(1),
    head(4, '\x03\x00abc'),
    head(4, '\xff\xff'),
    head(8, 'name\0'),
    head(8, 'name'),
    head(16, 'comment\0'),
    head(2, '\x00\x00'),
    head(32),
  ]
  for (const body of unusual) {
    t.ok(isSame(t, body))
    t.equal(inflate(quick, body, textBytesMax), null)
  }
})

t.test('says the same of a body cut at any place, and of one that is damaged', async (t) => {
  const random = createRandom(2)
  const small = Buffer.from(json.slice(0, 700))
  const bodies = [
    gzipSync(small),
    gzipSync(small, { strategy: constants.Z_FIXED }),
    gzipSync(small, { level: 0 }),
  ]
  for (const body of bodies) {
    for (let end = 0; end < body.length; end++) if (!isSame(t, bytesOf(body.subarray(0, end)))) return
    for (let time = 0; time < 150; time++) {
      const damaged = bytesOf(body)
      for (let left = random.below(3); left >= 0; left--)
        damaged[random.below(body.length)] = random.below(256)
      if (!isSame(t, damaged)) return
      // The same with a trailer that fits.
      if (!isSame(t, memberOf(damaged.subarray(10, -8)))) return
    }
  }
})

/** Lengths of a random full code for some of `count` symbols, `needed` among them. */
function randomLengths(random: Random, count: number, needed: number): Lengths {
  const leaves = [1, 1]
  const leafCount = 2 + random.below(count - 1)
  // The one that was split last, mostly: codes become long.
  while (leaves.length < leafCount) {
    const at = random.below(4) > 0 ? leaves.length - 1 : random.below(leaves.length)
    if (leaves[at] === 15) break
    leaves[at]! += 1
    leaves.push(leaves[at]!)
  }
  const symbols = Array.from({ length: count }, (_, symbol) => symbol).sort(() => random.next() - 0.5)
  const ordered = [needed, ...symbols.filter((symbol) => symbol !== needed)]
  const lengths: number[] = new Array(count).fill(0)
  for (const [index, length] of leaves.sort(() => random.next() - 0.5).entries())
    lengths[ordered[index]!] = length
  return lengths
}

function randomSymbols(random: Random, literals: Lengths, distances: Lengths): Symbols[] {
  const used = (lengths: Lengths) => [...lengths.keys()].filter((symbol) => lengths[symbol]! > 0)
  const [known, far] = [used(literals).filter((symbol) => symbol !== 256), used(distances)]
  if (known.length === 0) return [blockEnd]
  const isWrong = random.below(8) === 0
  let size = 0
  const symbols = Array.from({ length: random.below(400) }, (): Symbols => {
    const symbol = random.pick(known)
    if (symbol < 256 || (far.length === 0 && !isWrong)) {
      size++
      return symbol < 256 ? [symbol] : [random.pick(known.filter((one) => one < 256).concat(256))]
    }
    // A distance that there is, unless all may be wrong.
    const near = isWrong ? far : far.filter((one) => 2 ** (distanceExtraBits(one) + 2) < size)
    if (near.length === 0) return [blockEnd[0]]
    size += 3
    const distance = random.pick(near)
    const [extra, distanceExtra] = [random.below(2 ** lengthExtraBits(symbol)), distanceExtraBits(distance)]
    return [symbol, extra, distance, random.below(2 ** distanceExtra)]
  })
  const end = symbols.findIndex(([symbol]) => symbol === 256)
  return [...symbols.slice(0, end < 0 ? symbols.length : end), blockEnd]
}

t.test('says the same of streams with any codes', async (t) => {
  const random = createRandom(3)
  let sound = 0
  for (let time = 0; time < 400; time++) {
    const writer = new DeflateWriter()
    for (let left = random.below(3); left >= 0; left--) {
      const literals = randomLengths(random, random.pick([257, 258, 270, 286]), 256)
      const distances = randomLengths(random, random.pick([2, 10, 30]), 0)
      if (random.below(4) === 0) writer.stored(false, Buffer.from(json.slice(0, random.below(300))))
      if (random.below(4) === 0)
        writer.fixed(
          left === 0,
          randomSymbols(random, fixedLiterals.slice(0, 286), fixedDistances.slice(0, 30)),
        )
      else writer.dynamic(left === 0, literals, distances, randomSymbols(random, literals, distances))
    }
    const body = memberOf(writer.bytes())
    if (!isSame(t, body)) return
    if (inflate(quick, body, textBytesMax) !== null) sound++
  }
  t.ok(sound > 200, `${sound} of them were sound`)
})

const two: Lengths = [1, ...new Array(255).fill(0), 1]
const stored = (size: number, inverse?: number) =>
  new DeflateWriter().stored(true, Buffer.from('abc'), size, inverse)
const coded = (literals: Lengths, distances: Lengths, symbols: readonly Symbols[]) =>
  new DeflateWriter().dynamic(true, literals, distances, symbols)
/** Codes for what repeats lengths, and for some lengths. */
const runCodes: Lengths = [3, 3, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 2]
const runs = () => new DeflateWriter().head(true, 257, 1, runCodes)
const match: Symbols = [257, 0, 0, 0]

t.test('says the same of streams that no compressor writes', async (t) => {
  const withMatch: Lengths = [...two.slice(0, 256), 2, 2]
  const wrong: Record<string, DeflateWriter> = {
    'the kind 3': new DeflateWriter().bits(7, 3),
    'a size unlike its inverse': stored(3, 3),
    'a stored text that ends too early': stored(4),
    'no last block': new DeflateWriter().stored(false, Buffer.from('abc')),
    'no end of a block': new DeflateWriter().fixed(true, [[97], [98]]),
    'a match before anything': new DeflateWriter().fixed(true, [match, blockEnd]),
    'a match further back than the start': new DeflateWriter().fixed(true, [[97], [257, 0, 1], blockEnd]),
    'the length 286': new DeflateWriter().fixed(true, [[97], [286, 0, 0], blockEnd]),
    'the length 287': new DeflateWriter().fixed(true, [[97], [287, 0, 0], blockEnd]),
    'the distance 30': new DeflateWriter().fixed(true, [[97], [257, 0, 30], blockEnd]),
    'the distance 31': new DeflateWriter().fixed(true, [[97], [257, 0, 31], blockEnd]),
    '287 lengths': coded([...two, ...new Array(30).fill(0)], [1], [blockEnd]),
    '31 distances': coded(two, new Array(31).fill(5), [blockEnd]),
    'too many codes': coded([1, 1, ...new Array(254).fill(0), 1], [1], [blockEnd]),
    'too few codes': coded([2, ...new Array(255).fill(0), 1], [1], [blockEnd]),
    'no code for the end': coded([1, 1, ...new Array(255).fill(0)], [1], [[0]]),
    'too many distances': coded(two, [1, 1, 1], [blockEnd]),
    'too few distances': coded(two, [2, 1], [blockEnd]),
    'one distance of two bits': coded(two, [2], [blockEnd]),
    'a distance without a code': coded(withMatch, [0], [[0], [257], blockEnd]),
    'the second code where there is one': coded(withMatch, [1], [[0], [257]])
      .bits(1, 1)
      .symbol(withMatch, 256),
    'too many codes of lengths': new DeflateWriter().head(true, 257, 1, new Array(19).fill(4)),
    'too few codes of lengths': new DeflateWriter().head(true, 257, 1, [
      ...new Array(15).fill(4),
      0,
      0,
      0,
      0,
    ]),
    'one code of lengths': new DeflateWriter().head(true, 257, 1, [1, ...new Array(18).fill(0)]),
    'no code of lengths': new DeflateWriter().head(true, 257, 1, new Array(19).fill(0)),
    'a repetition of nothing': runs().symbol(runCodes, 16).bits(0, 2),
    'a run beyond the end': runs()
      .symbol(runCodes, 1)
      .symbol(runCodes, 18)
      .bits(127, 7)
      .symbol(runCodes, 18)
      .bits(127, 7),
    'lengths that go on and on': runs().bits(0, 3000),
    'blocks of nothing that go on and on': Array.from({ length: 500 }).reduce<DeflateWriter>(
      (writer) => writer.fixed(false, [blockEnd]),
      new DeflateWriter(),
    ),
  }
  for (const [name, writer] of Object.entries(wrong)) {
    for (const body of [memberOf(writer.bytes()), memberOf(bytesOf(writer.bytes(), new Uint8Array(100)))]) {
      t.ok(isSame(t, body), name)
      t.equal(inflate(quick, body, textBytesMax), null, name)
    }
  }
})

t.test('inflates what is odd and sound', async (t) => {
  const withMatch: Lengths = [...two.slice(0, 256), 2, 2]
  const long: Lengths = [
    ...Array.from({ length: 15 }, (_, index) => index + 1),
    ...new Array(241).fill(0),
    15,
  ]
  const odd: Record<string, [DeflateWriter, string]> = {
    'one distance': [coded(withMatch, [1], [[0], match, blockEnd]), '\0\0\0\0'],
    'no distance': [coded(two, [0], [[0], blockEnd]), '\0'],
    'codes of 15 bits': [coded(long, [1, 1], [[14], [13], [0], [14], blockEnd]), '\x0e\x0d\0\x0e'],
    'no text': [new DeflateWriter().fixed(false, [blockEnd]).stored(true, Buffer.alloc(0)), ''],
    'a run from literals to distances': [
      runs()
        .symbol(runCodes, 1)
        .symbol(runCodes, 18)
        .bits(127, 7)
        .symbol(runCodes, 18)
        .bits(106, 7)
        .symbol(runCodes, 1)
        .symbol(runCodes, 1)
        .bits(0, 1)
        .bits(1, 1),
      '\0',
    ],
    'a length of 258 in other words': [
      new DeflateWriter().fixed(true, [[97], [284, 31, 0], blockEnd]),
      'a'.repeat(259),
    ],
  }
  for (const [name, [writer, text]] of Object.entries(odd)) {
    const body = memberOf(writer.bytes())
    t.ok(isTaken(t, body, Buffer.from(text)), name)
    t.ok(isSame(t, body), name)
  }
})

t.test('writes nothing behind the margin, whatever the trailer says', async (t) => {
  const inflater = createInflater()
  const untouched = Buffer.alloc(inflater.bytes.length, 0xaa)
  const text = Buffer.alloc(3000, 'abc')
  const streams = [deflateRawSync(text), deflateRawSync(text, { level: 0 }), deflateRawSync(json)]
  for (const stream of streams) {
    for (let size = 0; size < 300; size++) {
      const body = member(stream, text.subarray(0, size))
      const end = ((bodyAt + body.length + bodyMargin + 15) & ~15) + size + textMargin
      inflater.bytes.fill(0xaa, bodyAt)
      if (inflate(inflater, body, textBytesMax) !== null) t.fail('a text of another size')
      if (untouched.compare(inflater.bytes, end, inflater.bytes.length, end) !== 0)
        t.fail(`written behind ${end}`)
    }
  }
})

t.test('takes more memory for a larger body, up to a limit', async (t) => {
  const inflater = createInflater()
  const sizeOf = () => inflater.memory.buffer.byteLength
  const atFirst = sizeOf()
  const small = bytesOf(gzipSync(json))
  t.ok(inflate(inflater, small, textBytesMax))
  t.equal(sizeOf(), atFirst, 'a body of a few KB finds room')
  const large = Buffer.alloc(3 << 20, json)
  const inflated = inflate(inflater, bytesOf(gzipSync(large)), textBytesMax)
  t.ok(inflated !== null && large.equals(inflated))
  t.ok(sizeOf() >= 3 << 20 && sizeOf() < 4 << 20)
  t.equal(inflate(inflater, bytesOf(gzipSync(Buffer.alloc(4 << 20))), textBytesMax), null, 'of 4 MiB')
  t.equal(
    inflate(inflater, bytesOf(gzipSync(large)), large.length - 1),
    null,
    'over the limit that was given',
  )
  t.ok(inflate(inflater, small, textBytesMax))
})

t.test('a lie of the trailer is found out by zlib', async (t) => {
  const body = bytesOf(gzipSync(Buffer.alloc(40_000, json)))
  for (const at of [8, 7, 5, 4, 3, 1]) {
    const liar = body.slice()
    liar[liar.length - at]! ^= 1
    t.equal(inflate(quick, liar, textBytesMax), null)
    t.ok(isSame(t, liar))
  }
})
