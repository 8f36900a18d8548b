import t from 'tap'
import { addToDedupKey, beginDedupKey, endDedupKey } from '../../src/capture/dedup-key.ts'

function key(projectId: number, ...texts: string[]): string {
  beginDedupKey(projectId)
  for (const text of texts) {
    const bytes = new Uint8Array(Buffer.from(text))
    addToDedupKey(new DataView(bytes.buffer), 0, bytes.length)
  }
  const words = new Uint32Array(2)
  endDedupKey(words, 0)
  return [...words].map((word) => word.toString(16).padStart(8, '0')).join('')
}

t.test('gives the hashes that sealed segments keep', async (t) => {
  t.equal(key(1, '0123456789abcdef', '$pageview', 'user-1'), 'f11e073d663e35ce')
  t.equal(key(2, '0123456789abcdef', '$pageview', 'user-1'), 'ad37961772769cd2')
  t.equal(key(1, '', '', ''), '3b751796e3b9e62d')
})

t.test('tells apart where one text ends and the next begins', async (t) => {
  const keys = [
    key(1, 'u', 'ab', 'c'),
    key(1, 'u', 'a', 'bc'),
    key(1, 'u', 'abc', ''),
    key(1, 'u', '', 'abc'),
  ]
  keys.push(key(1, 'u', 'ab\0', 'c'), key(1, 'u', 'ab', '\0c'), key(1, 'u', 'ab\0\0', 'c'))
  t.equal(new Set(keys).size, 7)
})

t.test('scatters keys that differ in one bit over both words', async (t) => {
  const high = new Set<string>()
  const low = new Set<string>()
  for (let index = 0; index < 20_000; index++) {
    const words = key(1, `uuid-${index}`, 'e', 'u')
    high.add(words.slice(0, 8))
    low.add(words.slice(8))
  }
  // Two of 20,000 random words meet now and then: 0.05 times on average in each half.
  t.ok(high.size > 19_995 && low.size > 19_995)
})
