import t from 'tap'
import { base62, hashKey, makeKey, maskKey } from '../../src/api/keys.ts'

t.test('writes bytes in base 62 with digits, then small, then capital letters', async (t) => {
  const written = [[0], [9], [10], [35], [36], [61], [62], [1, 0], [0, 255]].map((bytes) =>
    base62(Uint8Array.from(bytes)),
  )
  t.same(written, ['0', '9', 'a', 'z', 'A', 'Z', '10', '48', '47'])
  t.equal(base62(new Uint8Array(32).fill(255)), 'YHJSKWDa6oz1al1yMhwzwM8llg7hJNUca2J5RoW8xP1')
})

t.test('makes keys of 256 random bits behind their prefix', async (t) => {
  const keys = Array.from({ length: 200 }, () => makeKey('phx_'))
  t.ok(keys.every((key) => /^phx_[0-9a-zA-Z]{38,43}$/.test(key)))
  t.equal(new Set(keys).size, 200)
  t.match(makeKey('phc_'), /^phc_/)
})

t.test('stores a key as the hash of all of it', async (t) => {
  // sha256sum of "phx_test"
  t.equal(hashKey('phx_test'), 'sha256$8ee44936f3b1c80173d2860f716f56dc44bd078df2ff5c4cb9fb4aed6f26860d')
})

t.test('shows four characters at each end, and nothing of a short key', async (t) => {
  t.equal(maskKey('phx_0123456789abcdef'), 'phx_...cdef')
  t.equal(maskKey('phx_0123456789a'), '********')
})
