import t from 'tap'
import { createPieces, nextPiece, openPieces } from '../../src/capture/person-pieces.ts'
import { columnDigest, digestBits, isQuiet } from '../../src/identity/column-digest.ts'
import { suppressedKeys } from '../../src/identity/suppression.ts'
import { capturedBatch } from './captured.ts'

function digest(properties: Record<string, unknown>, countsAll = false): number {
  const batch = capturedBatch([
    { event: 'before', distinct_id: 'a', properties: { $set: { some: 'thing' } } },
    { event: 'e', distinct_id: 'a', properties },
    { event: 'after', distinct_id: 'a', properties: { $browser: 'Chrome' } },
  ])
  return batch === null ? 0 : columnDigest(batch, 1, countsAll)
}

const page = { $current_url: '/a', $browser: 'Chrome', utm_source: 'x', $set: { plan: 'free' } }

t.test('is the same for the same, and for another page', async (t) => {
  t.equal(digest(page), digest({ ...page, unmapped: 1 }))
  t.equal(digest(page), digest({ ...page, $current_url: '/b?c="}{,\\' }))
  t.equal(digest(page), digest({ ...page, $browser: { nested: ['}', 1] } }))
  t.ok(digest(page) > 0 && digest(page) < 2 ** digestBits)
})

t.test('differs for everything that may change the person', async (t) => {
  const { $browser: _, ...withoutBrowser } = page
  const others = [
    { ...page, utm_source: 'y' },
    { ...page, $set: { plan: 'paid' } },
    { ...page, $set: { plan: 'free', $browser: 'Safari' } },
    { ...page, $set_once: {} },
    { ...page, $unset: ['plan'] },
    { ...page, $groups: { company: 'acme' } },
    { ...page, $os: 'Linux' },
    withoutBrowser,
  ]
  const digests = new Set([digest(page), ...others.map((other) => digest(other))])
  t.equal(digests.size, others.length + 1)
})

t.test('is the same whatever a suppressed property says', async (t) => {
  for (const key of suppressedKeys) {
    if (key !== '$os_name')
      t.equal(digest({ ...page, [key]: 'one' }), digest({ ...page, [key]: 'other' }), key)
  }
})

t.test('counts $os_name, which derives nothing when it is empty', async (t) => {
  t.not(digest({ ...page, $os_name: '' }), digest({ ...page, $os_name: 'iOS' }))
})

t.test('counts every value for events that suppress nothing', async (t) => {
  t.not(digest(page, true), digest({ ...page, $current_url: '/b' }, true))
  t.not(digest({ $set: { $browser: 'a' } }, true), digest({ $set: { $browser: 'a' } }))
})

t.test('ends with the column, whatever stands there', async (t) => {
  const batch = capturedBatch([
    { event: 'e', distinct_id: 'a', properties: { $browser: 'Chrome "1"', $os: 'x' } },
  ])
  const pieces = createPieces()
  if (batch === null) throw new Error('captured')
  openPieces(pieces, batch, 0)
  nextPiece(pieces)
  const piece = batch.text.person.bytes.subarray(pieces.start, pieces.end)
  // Without anything behind that could stop it.
  batch.text.person.bytes.fill(0x20, pieces.end)
  for (const byte of ['"', '\\', '{', ' ', 'a']) {
    piece.fill(byte.charCodeAt(0))
    t.ok(columnDigest(batch, 0, true) > 0, byte)
    piece[0] = 0x22
    piece[5] = 0x22
    t.ok(columnDigest(batch, 0, true) > 0, byte)
  }
})

t.test('tells who says only what is suppressed', async (t) => {
  const { $current_url, $browser } = page
  t.equal(isQuiet(digest({ $current_url, $browser })), true)
  for (const more of [{ utm_source: 'x' }, { $os_name: 'iOS' }, { $set: {} }, { $unset: ['a'] }])
    t.equal(isQuiet(digest({ $current_url, $browser, ...more })), false)
  t.equal(isQuiet(digest({ $current_url, $browser }, true)), false)
})
