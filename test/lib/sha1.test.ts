import { createHash } from 'node:crypto'
import t from 'tap'
import { paddedLength, sha1 } from '../../src/lib/sha1.ts'

function sha1Hex(message: Uint8Array): string {
  const scratch = new Uint8Array(paddedLength(message.length)).fill(0xaa)
  scratch.set(message)
  const digest = new Int32Array(5)
  sha1(scratch, message.length, digest)
  return Array.from(digest, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

t.test('hashes the examples of FIPS 180', async (t) => {
  t.equal(sha1Hex(Buffer.from('abc')), 'a9993e364706816aba3e25717850c26c9cd0d89d')
  t.equal(sha1Hex(Buffer.from('')), 'da39a3ee5e6b4b0d3255bfef95601890afd80709')
})

t.test('agrees with OpenSSL at every length around the block', async (t) => {
  for (let length = 0; length <= 260; length++) {
    const message = Uint8Array.from({ length }, (_, at) => at * 31 + length)
    t.equal(sha1Hex(message), createHash('sha1').update(message).digest('hex'), `${length} bytes`)
  }
})

t.test('pads to whole blocks with room for the length', async (t) => {
  t.same([0, 55, 56, 63, 64, 119, 120].map(paddedLength), [64, 64, 128, 128, 128, 128, 192])
})
