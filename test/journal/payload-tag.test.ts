import { createCipheriv } from 'node:crypto'
import t from 'tap'
import { isTagged, tagOf } from '../../src/journal/payload-tag.ts'
import { seededRandom } from './simulated-disk.ts'

const encrypted = (text: string): string =>
  createCipheriv('aes-128-ecb', Buffer.alloc(16), null).update(text, 'hex', 'hex')

const number = (hex: string): bigint => BigInt(`0x${hex}`)

/** GHASH's product, as SP 800-38D writes it down: bit 0 is the leftmost. */
function product(x: bigint, y: bigint): bigint {
  let sum = 0n
  let v = y
  for (let bit = 127n; bit >= 0n; bit--) {
    if ((x >> bit) & 1n) sum ^= v
    v = v & 1n ? (v >> 1n) ^ (0xe1n << 120n) : v >> 1n
  }
  return sum
}

/** GMAC under a key and a nonce of zeros. */
function plainTag(payload: Uint8Array): string {
  const h = number(encrypted('0'.repeat(32)))
  const padded = Buffer.from(payload)
    .toString('hex')
    .padEnd(32 * Math.ceil(payload.byteLength / 16), '0')
  const bits = (8 * payload.byteLength).toString(16).padStart(16, '0')
  let hash = 0n
  for (const block of `${padded}${bits}${'0'.repeat(16)}`.match(/.{32}/g) ?? [])
    hash = product(hash ^ number(block), h)
  return (hash ^ number(encrypted(`${'0'.repeat(31)}1`))).toString(16).padStart(32, '0')
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

t.test('is the GMAC of the payload', async (t) => {
  // Test case 1 of "The Galois/Counter Mode of Operation (GCM)" by McGrew and Viega.
  t.equal(hex(tagOf(new Uint8Array(0))), '58e2fccefa7e3061367f1d57a4e7455a')
  // As `openssl mac` prints it.
  t.equal(hex(tagOf(Buffer.from('123456789'))), '107c4146b4c6a58d2afe8a7299f060e2')
  const random = seededRandom(1)
  const bytes = Uint8Array.from({ length: 5000 }, () => Math.floor(random() * 256))
  for (const length of [1, 15, 16, 17, 255, 1024, 4999]) {
    const view = bytes.subarray(1, 1 + length)
    t.equal(hex(tagOf(view)), plainTag(view), `${length} bytes`)
  }
})

t.test('changes with every bit, with the length, and with the order', async (t) => {
  const payload = Uint8Array.from({ length: 200 }, (_, i) => i)
  const tags = new Set([hex(tagOf(payload))])
  for (let bit = 0; bit < 1600; bit++) {
    const copy = payload.slice()
    copy[bit >> 3]! ^= 1 << (bit & 7)
    tags.add(hex(tagOf(copy)))
  }
  for (let length = 0; length < 200; length++) tags.add(hex(tagOf(payload.subarray(0, length))))
  tags.add(hex(tagOf(Buffer.concat([payload, Buffer.alloc(1)]))))
  tags.add(
    hex(tagOf(Buffer.concat([payload.subarray(16, 32), payload.subarray(0, 16), payload.subarray(32)]))),
  )
  t.equal(tags.size, 1 + 1600 + 200 + 2)
})

t.test('is for long payloads', async (t) => {
  t.same(
    [32767, 32768, 32769].map((length) => isTagged(new Uint8Array(length))),
    [false, true, true],
  )
})
