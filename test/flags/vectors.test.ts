// The published vectors of evaluation: what SDKs and servers of this API agree on. A is in bucket.test.ts, C in
// match.test.ts.

import { createHash } from 'node:crypto'
import t from 'tap'
import type { FlagFilters, PropertyFilter } from '../../src/flags/definition.ts'
import {
  type Asked,
  cohort,
  definitionsOf,
  evaluateAll,
  evaluateOne,
  flag,
  flagValue,
  variantsOf,
} from './make.ts'

const users = Array.from({ length: 10 }, (_, index) => `user${index + 1}`)
const email = (value: string): PropertyFilter => ({ key: 'email', value, operator: 'exact', type: 'person' })

function valuesOf(key: string, filters: FlagFilters, ids: readonly string[]): (boolean | string | null)[] {
  return ids.map((id) => flagValue(key, filters, { id }))
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `distinct_id_${index}`)
}

function bucket(text: string): number {
  return Number.parseInt(createHash('sha1').update(text).digest('hex').slice(0, 15), 16) / 2 ** 60
}

t.test('a simple flag is on for the same ids everywhere (B1)', async (t) => {
  const filters = { groups: [{ properties: [], rollout_percentage: 45 }] }
  const values = valuesOf('simple-flag', filters, numbered(1000))
  const letters = values.slice(0, 20).map((value) => (value === true ? 'T' : 'F'))
  t.equal(letters.join(' '), 'F T T F T F F T F T F T T F T F F F T T')
  const expected = numbered(1000).map((id) => bucket(`simple-flag.${id}`) <= 0.45)
  t.same(values, expected)
})

t.test('a multivariate flag has the same variants everywhere (B2)', async (t) => {
  const shares = {
    'first-variant': 50,
    'second-variant': 20,
    'third-variant': 20,
    'fourth-variant': 5,
    'fifth-variant': 5,
  }
  const filters = { groups: [{ properties: [], rollout_percentage: 55 }], multivariate: variantsOf(shares) }
  const values = valuesOf('multivariate-flag', filters, numbered(1000))
  t.equal(
    values
      .slice(0, 20)
      .map((value) => (value === false ? 'F' : String(value).replace('-variant', '')))
      .join(' '),
    'second second first F F second first F F F first third F first second first F F fourth first',
  )
  const ends = [0.5, 0.7, 0.9, 0.95, 1]
  const expected = numbered(1000).map((id) => {
    if (bucket(`multivariate-flag.${id}`) > 0.55) return false
    const place = bucket(`multivariate-flag.${id}variant`)
    return Object.keys(shares)[ends.findIndex((end) => place < end)]
  })
  t.same(values, expected)
})

t.test('everybody gets a variant of two halves (B3)', async (t) => {
  const filters = { groups: [{}], multivariate: variantsOf({ control: 50, test: 50 }) }
  t.equal(
    valuesOf('beta-feature', filters, users).join(' '),
    'test control test test control control test test control control',
  )
})

t.test('everybody gets a variant of three thirds (B4)', async (t) => {
  const filters = { groups: [{}], multivariate: variantsOf({ a: 33, b: 33, c: 34 }) }
  t.equal(valuesOf('beta-feature', filters, users).join(' '), 'c a c c a a c c a a')
})

t.test('half of the users are in (B5)', async (t) => {
  const filters = { groups: [{ rollout_percentage: 50 }] }
  const on = users.filter((id) => flagValue('beta-feature', filters, { id }) === true)
  t.same(on, ['user6', 'user8', 'user9', 'user10'])
})

t.test('a rollout of 0 is nobody and none is everybody (B6)', async (t) => {
  t.same(
    valuesOf('beta-feature', { groups: [{ rollout_percentage: 0 }] }, users),
    users.map(() => false),
  )
  t.same(
    valuesOf('beta-feature', { groups: [{ rollout_percentage: null }] }, users),
    users.map(() => true),
  )
})

const thirds = { 'first-variant': 50, 'second-variant': 25, 'third-variant': 25 }

t.test('an override that names no variant is ignored (B7)', async (t) => {
  const filters = {
    groups: [
      { properties: [email('test@posthog.com')], rollout_percentage: 100, variant: 'second???' },
      { rollout_percentage: 50, variant: 'first??' },
    ],
    multivariate: variantsOf(thirds),
  }
  const test = { id: 'test_id', given: { email: 'test@posthog.com' } }
  t.equal(flagValue('beta-feature', filters, test), 'third-variant')
  t.equal(flagValue('beta-feature', filters, { id: 'example_id' }), 'second-variant')
})

t.test('an override gives everybody in its condition that variant (B8)', async (t) => {
  const filters = {
    groups: [
      { properties: [email('test@posthog.com')], rollout_percentage: 100, variant: 'second-variant' },
      { rollout_percentage: 50, variant: 'first-variant' },
    ],
    multivariate: variantsOf(thirds),
  }
  const test = { id: 'test_id', given: { email: 'test@posthog.com' } }
  t.equal(flagValue('beta-feature', filters, test), 'second-variant')
  t.equal(flagValue('beta-feature', filters, { id: 'example_id' }), 'first-variant')
})

t.test('of two overrides that match, the earlier stored one wins (B9)', async (t) => {
  const filters = {
    groups: [
      { properties: [email('test@posthog.com')], rollout_percentage: 100, variant: 'second-variant' },
      { properties: [email('test@posthog.com')], rollout_percentage: 100, variant: 'first-variant' },
      { rollout_percentage: 50, variant: 'first-variant' },
    ],
    multivariate: variantsOf(thirds),
  }
  t.equal(
    flagValue('beta-feature', filters, { id: 'test_id', given: { email: 'test@posthog.com' } }),
    'second-variant',
  )
})

t.test('conditions are tried in stored order, overrides or not (B10)', async (t) => {
  const vip = { key: 'email', value: '@vip.com', operator: 'icontains' } as const
  const filters = {
    groups: [{ rollout_percentage: 100 }, { properties: [vip], variant: 'vip-variant' }],
    multivariate: variantsOf({ control: 100, 'vip-variant': 0 }),
  }
  t.equal(flagValue('order-test', filters, { id: 'user123', given: { email: 'user@vip.com' } }), 'control')
})

t.test('a flag that keeps its value buckets a person by what they were before (B11)', async (t) => {
  const kept = flag(
    'beta-feature',
    { groups: [{ rollout_percentage: 50 }] },
    { ensureExperienceContinuity: true },
  )
  t.equal(evaluateOne(kept, { id: 'user2' })?.value, false)
  t.equal(evaluateOne(kept, { id: 'user2', hashKeys: { 'beta-feature': 'user8' } })?.value, true)
  t.equal(evaluateOne(kept, { id: 'user2', hashKeys: { other: 'user8' } })?.value, false)
})

const companyFlag = (rollout: number, properties: PropertyFilter[] = []): FlagFilters => ({
  aggregation_group_type_index: 0,
  groups: [{ properties, rollout_percentage: rollout }],
})

t.test('a flag about groups is off where no group is named (D1)', async (t) => {
  const outcome = evaluateOne(flag('group-flag', companyFlag(100)))
  t.equal(outcome?.value, false)
  t.equal(outcome?.reason, 'no_group_type')
  t.equal(outcome?.hasFailed, false)
})

t.test('a group is in or out by its key (D2)', async (t) => {
  const asked: Asked = { groups: { 0: { id: 'amazon' } } }
  t.equal(flagValue('group-flag', companyFlag(55), asked), true)
  t.equal(flagValue('group-flag', companyFlag(54), asked), false)
})

t.test('a property of the group may come with the request (D3)', async (t) => {
  const plan = { key: 'plan', value: 'enterprise', type: 'group', group_type_index: 0 } as const
  const filters = companyFlag(100, [plan])
  t.equal(
    flagValue('group-flag', filters, { groups: { 0: { id: 'acme', given: { plan: 'enterprise' } } } }),
    true,
  )
  t.equal(flagValue('group-flag', filters, { groups: { 0: { id: 'acme' } } }), false)
})

t.test('who is not in a static cohort is not in it (D4)', async (t) => {
  const filter = { key: 'id', value: 7, type: 'cohort', operator: 'not_in' } as const
  const project = definitionsOf(
    [flag('beta', { groups: [{ properties: [filter] }] })],
    [{ ...cohort(7, null), isStatic: true }],
  )
  t.equal(evaluateAll(project, { staticCohorts: [] }).get('beta')?.value, true)
  t.equal(evaluateAll(project, { staticCohorts: [7] }).get('beta')?.value, false)
})

t.test('a payload is the string that was stored, and only with its value (D5)', async (t) => {
  const filters = {
    groups: [{ rollout_percentage: 100 }],
    multivariate: variantsOf({ test: 100 }),
    payloads: { test: '{"a":1}' },
  }
  t.equal(evaluateOne(flag('f', filters))?.payloadMember, '"f":"{\\"a\\":1}"')
  t.equal(evaluateOne(flag('f', { ...filters, groups: [{ rollout_percentage: 0 }] }))?.payloadMember, null)
})

t.test('an inactive flag is absent (D6)', async (t) => {
  const project = definitionsOf([flag('gone', { groups: [{}] }, { active: false })])
  t.same([...evaluateAll(project).keys()], [])
})
