import t from 'tap'
import { groupNamed } from '../../src/identity/group-change.ts'

function named(type: string, key: string, set?: string) {
  const members = new Map([
    ['$group_type', type],
    ['$group_key', key],
  ])
  if (set !== undefined) members.set('$group_set', set)
  return groupNamed(members)
}

t.test('reads type, key and properties', async (t) => {
  t.same(named('"company"', '"acme"', '{"a":1}'), { type: 'company', key: 'acme', set: '{"a":1}' })
  t.same(named('"company"', '5'), { type: 'company', key: '5', set: '{}' })
  t.same(named('"company"', '"acme"', '"oops"'), { type: 'company', key: 'acme', set: '{}' })
})

t.test('is none without type or key (90)', async (t) => {
  t.equal(groupNamed(new Map([['$group_type', '"company"']])), null)
  t.equal(groupNamed(new Map([['$group_key', '"acme"']])), null)
  t.equal(named('""', '"acme"'), null)
  t.equal(named('"company"', '0'), null)
  t.equal(named('"company"', 'null'), null)
})

t.test('takes names of 400 characters and no longer ones', async (t) => {
  t.equal(named('"company"', `"${'k'.repeat(400)}"`)?.key.length, 400)
  t.equal(named('"company"', `"${'k'.repeat(401)}"`), null)
  t.equal(named(`"${'t'.repeat(401)}"`, '"acme"'), null)
})
