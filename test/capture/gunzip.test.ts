import { gzipSync } from 'node:zlib'
import t from 'tap'
import { gunzip } from '../../src/capture/gunzip.ts'
import { isGzip } from '../../src/capture/gzip-frame.ts'

function gzip(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(content))
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.concat(parts))
}

function inflated(bytes: Uint8Array<ArrayBuffer>, bytesMax = 1 << 20): string {
  const outcome = gunzip(bytes, bytesMax)
  return outcome.kind === 'bytes' ? Buffer.from(outcome.bytes).toString() : outcome.code
}

t.test('recognises gzip by three bytes', async (t) => {
  t.equal(isGzip(gzip('')), true)
  t.equal(isGzip(new Uint8Array([0x1f, 0x8b, 8])), true)
  t.equal(isGzip(new Uint8Array([0x1f, 0x8b])), false)
  t.equal(isGzip(new Uint8Array([0x1f, 0x8b, 0])), false)
})

t.test('joins members and ignores zero padding', async (t) => {
  t.equal(inflated(join(gzip('one '), gzip(''), gzip('two'))), 'one two')
  t.equal(inflated(join(gzip('one'), new Uint8Array(512))), 'one')
})

t.test('refuses damage', async (t) => {
  const whole = gzip('{"event":"pageview"}')
  const damaged = whole.slice()
  damaged[damaged.length - 6]! ^= 1
  t.equal(inflated(damaged), 'payload_undecodable', 'wrong CRC')
  for (const end of [0, 3, 10, 17, whole.length - 1])
    t.equal(inflated(whole.subarray(0, end)), 'payload_undecodable', `cut at ${end}`)
  t.equal(inflated(join(whole, Buffer.from('trailing'))), 'payload_undecodable', 'garbage behind it')
  t.equal(inflated(join(whole, whole.subarray(0, 12))), 'payload_undecodable', 'half a member behind it')
  t.equal(inflated(new Uint8Array(Buffer.from('{"event":"pageview"}'))), 'payload_undecodable', 'not gzip')
})

t.test('a trailer that lies about the size is found out', async (t) => {
  for (const size of [0, 10, 0xffffffff]) {
    const liar = gzip('x'.repeat(100_000))
    new DataView(liar.buffer, liar.byteOffset).setUint32(liar.length - 4, size, true)
    t.equal(inflated(liar), 'payload_undecodable')
  }
  // Of several members the last one's size is not the whole.
  t.equal(inflated(join(gzip('x'.repeat(100_000)), gzip('y'))).length, 100_001)
})

t.test('the limit is exact, over all members', async (t) => {
  const content = 'x'.repeat(70_000)
  t.equal(inflated(gzip(content), 70_001), content)
  t.equal(inflated(gzip(content), 70_000), content)
  t.equal(inflated(gzip(content), 69_999), 'body_too_large')
  const halves = join(gzip('x'.repeat(35_000)), gzip('x'.repeat(35_000)))
  t.equal(inflated(halves, 70_000), content)
  t.equal(inflated(halves, 69_999), 'body_too_large')
})

t.test('case 11: a bomb is stopped without being unfolded', async (t) => {
  const bomb = gzip(new Uint8Array(120 * 1024 * 1024))
  const before = process.memoryUsage().arrayBuffers
  t.equal(inflated(bomb, 20 * 1024 * 1024), 'body_too_large')
  t.ok(
    process.memoryUsage().arrayBuffers - before < 64 * 1024 * 1024,
    'little more than the limit was allocated',
  )
})
