import t from 'tap'
import { propertiesBytes, trimProperties } from '../../src/identity/property-bounds.ts'

const KiB = 1024

/** A property that takes exactly `bytes` of the printed object, with its comma. */
function sized(key: string, bytes: number): [string, string] {
  return [key, `"${'x'.repeat(bytes - key.length - 6)}"`]
}

t.test('measures what is printed', async (t) => {
  const properties = new Map([sized('a', 300 * KiB), ['b', '"üü"']] as const)
  const printed = `{"a":${properties.get('a')},"b":"üü"}`
  t.equal(propertiesBytes(properties), Buffer.byteLength(printed))
})

t.test('trims the largest first, and never what everybody needs', async (t) => {
  const properties = new Map([
    sized('email', 200 * KiB),
    sized('$device', 200 * KiB),
    sized('utm_source', 50 * KiB),
    sized('small', 10 * KiB),
    sized('large', 60 * KiB),
    sized('largest', 61 * KiB),
  ])
  trimProperties(properties)
  t.same([...properties.keys()], ['email', '$device', 'utm_source', 'small'])
  t.ok(propertiesBytes(properties) <= 512 * KiB)
})

t.test('keeps what is protected even when that is too much', async (t) => {
  const properties = new Map([sized('email', 600 * KiB), sized('other', 100)])
  trimProperties(properties)
  t.same([...properties.keys()], ['email'])
})

t.test('trims nothing at the limit and something one byte above it', async (t) => {
  const rest = 512 * KiB - 1 - 100
  const at = new Map([sized('a', 100), sized('b', rest)])
  trimProperties(at)
  t.equal(at.size, 2)
  const above = new Map([sized('a', 101), sized('b', rest)])
  trimProperties(above)
  t.same([...above.keys()], ['a'])
})
