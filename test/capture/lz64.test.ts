import fc from 'fast-check'
import lzString from 'lz-string'
import t from 'tap'
import { decodeLz64 } from '../../src/capture/lz64.ts'

function compress(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(lzString.compressToBase64(text)))
}

function decode(input: Uint8Array<ArrayBuffer>, bytesMax = 1 << 26): string {
  const outcome = decodeLz64(input, bytesMax)
  return outcome.kind === 'bytes'
    ? Buffer.from(outcome.bytes).toString()
    : `${outcome.code}: ${outcome.detail}`
}

/** What a string becomes in UTF-8: lone surrogates turn into U+FFFD. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString()
}

t.test('decodes whatever lz-string encodes', async (t) => {
  const unit = fc.nat(0xffff).map((code) => String.fromCharCode(code))
  const words = fc.constantFrom('a', 'ab', '"event":', 'ü', '€', '😀', '\ud83d', '\ude00', '\0', '\ud7ff')
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.string({ unit, maxLength: 300 }),
    fc.string({ unit: words, maxLength: 500 }),
    fc.tuple(words, fc.nat(3000)).map(([word, count]) => word.repeat(count)),
    fc.json(),
  )
  fc.assert(
    fc.property(text, (value) => decode(compress(value)) === wellFormed(value)),
    { numRuns: 2000 },
  )
  t.pass('2000 texts')
})

t.test('decodes texts of every length, where the limit leaves no room behind them', async (t) => {
  for (const pattern of ['a', 'ab', 'abcdefg', 'abcdefgh', 'äbc€', '0123456789abcdefghijklmnopqrstuvwxyz']) {
    const texts = Array.from({ length: 200 }, (_, length) => pattern.repeat(length).slice(0, length))
    t.same(
      texts.map((text) => decode(compress(text), Buffer.byteLength(text))),
      texts,
    )
  }
})

t.test('decodes long bodies, past every width of the dictionary they need', async (t) => {
  const events = Array.from({ length: 20_000 }, (_, index) => ({
    event: `e${index}`,
    id: index * 7919,
    name: 'Zoë',
  }))
  const text = JSON.stringify(events)
  t.equal(decode(compress(text)), text)
  t.equal(decode(compress('ab'.repeat(50_000))), 'ab'.repeat(50_000))
  t.equal(decode(compress('')), '')
})

t.test('refuses what lz-string would not have written', async (t) => {
  const whole = compress('{"event":"pageview","distinct_id":"user-1"}')
  t.match(
    decode(whole.subarray(0, whole.length - 8)),
    /^payload_undecodable: failed to decode request: invalid lz64/,
  )
  t.match(decode(new Uint8Array(Buffer.from('{"event":"x"}'))), /^payload_undecodable: .*not base64/)
  const longer = new Uint8Array(Buffer.concat([whole.filter((byte) => byte !== 0x3d), Buffer.from('AA')]))
  t.match(decode(longer), /^payload_undecodable: .*goes on after its end/)
  t.match(decode(new Uint8Array(0)), /^payload_undecodable: .*too early/)
  t.match(decode(new Uint8Array(Buffer.from('====')), 10), /^payload_undecodable: .*too early/)
  t.match(decode(new Uint8Array(Buffer.from('////'))), /^payload_undecodable: /)
})

t.test('answers any bytes with text or a refusal, and within the limit', async (t) => {
  const digits = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  const garbage = fc
    .array(fc.nat(63), { maxLength: 400 })
    .map((list) => Uint8Array.from(list, (d) => digits[d]!))
  fc.assert(
    fc.property(garbage, (input) => {
      const outcome = decodeLz64(input, 1000)
      return outcome.kind === 'refused' || outcome.bytes.length <= 1000
    }),
    { numRuns: 3000 },
  )
  t.pass('3000 inputs')
})

t.test('the limit counts bytes of UTF-8 and is exact', async (t) => {
  for (const text of [
    'a'.repeat(900),
    '€'.repeat(300),
    '😀'.repeat(225),
    '\ud83d'.repeat(300),
    'x😀'.repeat(180),
  ]) {
    t.equal(decode(compress(text), 900), wellFormed(text), 'at the limit')
    t.equal(decode(compress(text), 901), wellFormed(text), 'under the limit')
    t.match(
      decode(compress(text), 899),
      /^body_too_large: maximum event size exceeded: body inflates to more than/,
    )
  }
})

t.test('stops a bomb at the limit', async (t) => {
  const bomb = newestEntryBomb(30_000)
  t.ok(bomb.length < 100_000, 'it is small, and would unfold to 450 MB')
  t.match(decode(bomb, 1 << 20), /^body_too_large: .*more than 1 MiB \(MAX_DECOMPRESSED_BYTES\)/)
  t.equal(decode(newestEntryBomb(4), 15), 'A'.repeat(15))
  t.match(decode(newestEntryBomb(4), 14), /^body_too_large/)
})

/** "A", then `codes` times the entry that is just being made: 1 + 2 + … + (codes + 1) letters. */
function newestEntryBomb(codes: number): Uint8Array<ArrayBuffer> {
  const bits: number[] = []
  const put = (value: number, width: number) => {
    for (let bit = 0; bit < width; bit++) bits.push((value >> bit) & 1)
  }
  put(0, 2)
  put(65, 8)
  let size = 4
  for (let code = 0; code < codes; code++) put(size, 32 - Math.clz32(size++))
  put(2, 32 - Math.clz32(size))
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  let text = ''
  for (let at = 0; at < bits.length; at += 6) {
    let digit = 0
    for (let bit = 0; bit < 6; bit++) digit = digit * 2 + (bits[at + bit] ?? 0)
    text += digits[digit]
  }
  return new Uint8Array(Buffer.from(text))
}
