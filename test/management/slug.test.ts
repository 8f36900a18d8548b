import t from 'tap'
import { slugify, slugsOf } from '../../src/management/slug.ts'

t.test('writes a name as part of an address', async (t) => {
  t.equal(slugify('My Org'), 'my-org')
  t.equal(slugify('  Café -- Ünïted_2 & Söhne! '), 'cafe-united_2-sohne')
  t.equal(slugify('-_-a-_-'), 'a')
  t.equal(slugify('株式会社'), '')
})

t.test('tries the name itself, then ten suffixes, within 48 characters', async (t) => {
  const [own, ...others] = slugsOf('x'.repeat(64))
  t.equal(own, 'x'.repeat(48))
  t.equal(others.length, 10)
  for (const other of others) t.match(other, /^x{43}-[a-z]{4}$/)
})
