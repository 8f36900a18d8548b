import t from 'tap'
import { changeProperties, mergeProperties } from '../../src/identity/property-change.ts'

interface Change {
  readonly set?: Record<string, string>
  readonly setOnce?: Record<string, string>
  readonly unset?: string[]
  readonly suppresses?: boolean
}

const person = { a: '1', $browser: '"Chrome"', $os: '"Mac"', gone: 'null' }

function change(wanted: Change) {
  const properties = new Map(Object.entries(person))
  const { set = {}, setOnce = {}, unset = [], suppresses = true } = wanted
  const update = { set: new Map(Object.entries(set)), setOnce: new Map(Object.entries(setOnce)), unset }
  const outcome = changeProperties(properties, update, suppresses)
  return [outcome, Object.fromEntries(properties)]
}

t.test('sets, sets once and unsets', async (t) => {
  t.same(change({}), ['unchanged', person])
  t.same(change({ set: { a: '1' } }), ['unchanged', person])
  t.same(change({ set: { a: '2' } }), ['changed', { ...person, a: '2' }])
  t.same(change({ setOnce: { a: '2' } }), ['unchanged', person])
  t.same(change({ setOnce: { gone: '2' } }), ['unchanged', person], 'null is a value')
  t.same(change({ setOnce: { b: '2' } }), ['changed', { ...person, b: '2' }])
  t.same(change({ set: { b: '1' }, setOnce: { b: '2' } }), ['changed', { ...person, b: '1' }])
  t.same(change({ unset: ['nothing'] }), ['unchanged', person])
  const { a: _, ...withoutA } = person
  t.same(change({ unset: ['a'] }), ['changed', withoutA])
})

t.test('takes equal values for equal, however they are written', async (t) => {
  t.same(change({ set: { a: '1e0' } }), ['unchanged', person])
  t.same(change({ set: { $browser: '"\\u0043hrome"' }, suppresses: false }), ['unchanged', person])
})

t.test('does not write a person for suppressed properties alone', async (t) => {
  t.same(change({ set: { $browser: '"Safari"', $os: '"Linux"' } }), ['unchanged', person])
  const browser = { ...person, $browser: '"Safari"' }
  t.same(change({ set: { $browser: '"Safari"' }, suppresses: false }), ['changed', browser])
  t.same(change({ set: { $browser: '"Safari"', a: '2' } }), ['changed', { ...browser, a: '2' }])
  t.same(change({ set: { $browser: '"Safari"' }, setOnce: { b: '1' } }), ['changed', { ...browser, b: '1' }])
  t.same(change({ set: { $device_type: '"TV"' } }), ['changed', { ...person, $device_type: '"TV"' }])
})

t.test('refuses what is too large and trims what is nearly so', async (t) => {
  const KiB = 1024
  const of = (bytes: number) => `"${'x'.repeat(bytes)}"`
  const [refused, left] = change({ set: { big: of(641 * KiB), a: '2' } })
  t.same([refused, left], ['refused', person])
  const [trimmed, trimmedLeft] = change({ set: { big: of(600 * KiB), a: '2' } })
  t.same([trimmed, trimmedLeft], ['trimmed', { ...person, a: '2' }])
  const [changed] = change({ set: { big: of(500 * KiB) } })
  t.equal(changed, 'changed')
})

t.test('merges persons, the survivor prevailing, and trims instead of refusing', async (t) => {
  const source = new Map([
    ['a', '1'],
    ['b', '1'],
  ])
  const merged = mergeProperties(source, new Map([['a', '2']]))
  t.same([Object.fromEntries(merged.properties), merged.isTrimmed], [{ a: '2', b: '1' }, false])
  const big = `"${'x'.repeat(400 * 1024)}"`
  const trimmed = mergeProperties(new Map([['c', big]]), new Map([['d', big]]))
  t.same([[...trimmed.properties.keys()], trimmed.isTrimmed], [['d'], true])
})
