import t from 'tap'
import { otherIdOf } from '../../src/identity/other-id.ts'

function otherId(kind: 'identify' | 'alias' | 'merge', text: string): string | null {
  return otherIdOf(kind, new Map([[kind === 'identify' ? '$anon_distinct_id' : 'alias', text]]))
}

t.test('makes text of whatever the other id is', async (t) => {
  t.equal(otherId('identify', '"anon"'), 'anon')
  t.equal(otherId('identify', '"\\u00fcser"'), 'üser')
  t.equal(otherId('identify', '23'), '23')
  t.equal(otherId('identify', '12345678901234567890'), '12345678901234567890')
  t.equal(otherId('identify', '{"a":1}'), '[object Object]')
  t.equal(otherId('identify', '["a","b"]'), 'a,b')
  t.equal(otherId('alias', 'true'), 'true')
})

t.test('asks for no merge without one', async (t) => {
  t.equal(otherIdOf('identify', new Map()), null)
  t.equal(otherIdOf('identify', new Map([['alias', '"a"']])), null)
  t.equal(otherId('identify', 'null'), null)
  t.equal(otherId('identify', '""'), '', 'an empty one is there, and illegal')
  for (const falsy of ['""', '0', '-0.0', 'false', 'null']) t.equal(otherId('alias', falsy), null, falsy)
  for (const falsy of ['""', '0e5', 'false', 'null']) t.equal(otherId('merge', falsy), null, falsy)
})

t.test('cuts it where capture cuts a distinct_id', async (t) => {
  t.equal(otherId('alias', `"${'a'.repeat(201)}"`), 'a'.repeat(200))
  t.equal(otherId('alias', `"${'😀'.repeat(201)}"`), '😀'.repeat(200))
  t.equal(otherId('alias', `"${'😀'.repeat(150)}"`), '😀'.repeat(150))
})
