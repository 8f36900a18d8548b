// The order of evaluation, what may be unread, and the reasons.

import t from 'tap'
import type {
  FlagCondition,
  FlagDefinition,
  FlagFilters,
  PropertyFilter,
} from '../../src/flags/definition.ts'
import { type Asked, definitionsOf, evaluateAll, evaluateOne, flag, flagValue, variantsOf } from './make.ts'

const plan: PropertyFilter = { key: 'plan', value: 'pro', type: 'person' }
const everyone: FlagCondition = { rollout_percentage: 100 }
const nobody: FlagCondition = { rollout_percentage: 0 }

/** [value, reason, index of the condition], or null when something is unread. */
function told(filters: FlagFilters, asked: Asked = {}): unknown {
  const outcome = evaluateOne(flag('beta-feature', filters), asked)
  return outcome && [outcome.value, outcome.reason, outcome.conditionIndex]
}

t.test('the first condition that is met decides and is named', async (t) => {
  const filters = { groups: [{ properties: [plan] }, everyone, everyone] }
  t.same(told(filters, { stored: { plan: 'pro' } }), [true, 'condition_match', 0])
  t.same(told(filters), [true, 'condition_match', 1])
})

t.test('where none is met, the most telling reason is named, the later of two', async (t) => {
  const away: FlagCondition = { aggregation_group_type_index: 1 }
  t.same(told({ groups: [{ properties: [plan] }, { properties: [plan] }] }), [false, 'no_condition_match', 1])
  t.same(told({ groups: [nobody, { properties: [plan] }] }), [false, 'out_of_rollout_bound', 0])
  t.same(told({ groups: [nobody, nobody, { properties: [plan] }] }), [false, 'out_of_rollout_bound', 1])
  t.same(told({ groups: [nobody, away, nobody] }), [false, 'no_group_type', 1])
  t.same(told({ groups: [] }), [false, 'no_condition_match', null])
  t.same(told({}), [false, 'no_condition_match', null])
})

t.test('a flag of the old form is one condition', async (t) => {
  t.same(told({ properties: [plan], rollout_percentage: null }, { stored: { plan: 'pro' } }), [
    true,
    'condition_match',
    0,
  ])
  t.same(told({ rollout_percentage: 0 }), [false, 'out_of_rollout_bound', 0])
})

t.test('without an id there is nobody to evaluate for', async (t) => {
  t.same(told({ groups: [everyone] }, { id: '' }), [false, 'no_group_type', null])
  const filters = { aggregation_group_type_index: 0, groups: [everyone] }
  t.same(told(filters, { groups: { 0: { id: '' } } }), [false, 'no_group_type', null])
})

t.test('a condition may be about a group of its own', async (t) => {
  const filters = { groups: [{ aggregation_group_type_index: 1, rollout_percentage: 7 }] }
  // SHA-1 of "beta-feature.<id>": user8 0.0328, user1 0.6157.
  t.same(told(filters, { groups: { 1: { id: 'user8' } } }), [true, 'condition_match', 0])
  t.same(told(filters, { id: 'user8', groups: { 1: { id: 'user1' } } }), [false, 'out_of_rollout_bound', 0])
})

t.test('early exit ends with the first condition whose rollout leaves the person out', async (t) => {
  const groups = [{ properties: [plan], rollout_percentage: 0 }, everyone]
  t.same(told({ groups, early_exit: true }, { stored: { plan: 'pro' } }), [false, 'out_of_rollout_bound', 0])
  t.same(told({ groups, early_exit: true }), [true, 'condition_match', 1])
  t.same(told({ groups }, { stored: { plan: 'pro' } }), [true, 'condition_match', 1])
})

const enrolled: PropertyFilter = { key: '$feature_enrollment/beta-feature', value: ['true'], type: 'person' }
const superGroups = { super_groups: [{ properties: [enrolled], rollout_percentage: 100 }] }

t.test('a super condition is final for whoever has its property, and nobody else', async (t) => {
  const on = { ...superGroups, groups: [everyone] }
  t.same(told(on, { stored: { [enrolled.key!]: false } }), [false, 'super_condition_value', 0])
  t.same(told(on), [true, 'condition_match', 0])
  const off = { ...superGroups, groups: [nobody] }
  t.same(told(off, { given: { [enrolled.key!]: true } }), [true, 'super_condition_value', 0])
  t.same(told(off), [false, 'out_of_rollout_bound', 0])
  t.equal(told(off, { stored: null }), null, 'whether the property is stored must be read first')
  t.same(
    told(
      { ...superGroups, groups: [everyone], multivariate: variantsOf({ test: 100 }) },
      { given: { [enrolled.key!]: true } },
    ),
    ['test', 'super_condition_value', 0],
  )
})

t.test('a super condition without properties is none, and only the first counts', async (t) => {
  t.same(told({ super_groups: [{ properties: [] }], groups: [nobody] }), [false, 'out_of_rollout_bound', 0])
  const second = { super_groups: [{ properties: [] }, { properties: [enrolled] }], groups: [nobody] }
  t.same(told(second, { stored: { [enrolled.key!]: true } }), [false, 'out_of_rollout_bound', 0])
})

t.test('a holdout keeps its share of people out of the conditions', async (t) => {
  // SHA-1 of "holdout-<id>": user1 0.1698, user-123 0.0957, amazon 0.8492.
  const held = (more: FlagCondition = {}): FlagFilters => ({
    holdout_groups: [{ properties: [], rollout_percentage: 10, variant: 'holdout-5', ...more }],
    groups: [everyone],
    multivariate: variantsOf({ control: 50, test: 50 }),
  })
  t.same(told(held(), { id: 'user-123' }), ['holdout-5', 'holdout_condition_value', null])
  t.same(told(held(), { id: 'user1' }), ['test', 'condition_match', 0])
  t.same(told(held({ rollout_percentage: 17 }), { id: 'user1' }), [
    'holdout-5',
    'holdout_condition_value',
    null,
  ])
  t.same(
    told(held({ rollout_percentage: null }), { id: 'amazon' })?.toString(),
    'holdout-5,holdout_condition_value,',
  )
  t.same(told(held({ variant: null }), { id: 'user-123' }), ['test', 'holdout_condition_value', null])
  t.same(told(held({ properties: [plan] }), { id: 'user-123' })?.toString(), 'test,condition_match,0')
})

t.test('the newer form of a holdout says its share and its id', async (t) => {
  const held = (exclusion_percentage: number, more: FlagFilters = {}): FlagFilters => ({
    holdout: { id: 7, exclusion_percentage },
    groups: [everyone],
    ...more,
  })
  const out = ['holdout-7', 'holdout_condition_value', null]
  t.same(told(held(9.6), { id: 'user-123' }), out, 'SHA-1 of "holdout-user-123": 0.0957')
  t.same(told(held(9.5), { id: 'user-123' }), [true, 'condition_match', 0])
  t.same(told(held(0), { id: 'user-123' }), [true, 'condition_match', 0])
  t.same(told(held(100), { id: 'amazon' }), out)
  const both = held(9.5, { holdout_groups: [{ rollout_percentage: 100, variant: 'old' }] })
  t.same(told(both, { id: 'user-123' }), [true, 'condition_match', 0], 'it goes before the older form')
  const old = { holdout: null, holdout_groups: [{ variant: 'old' }], groups: [] }
  t.same(told(old), ['old', 'holdout_condition_value', null])
})

t.test('a holdout goes before conditions, and an early access before a holdout', async (t) => {
  const filters = {
    ...superGroups,
    holdout_groups: [{ rollout_percentage: 100, variant: 'held' }],
    groups: [everyone],
  }
  t.same(told(filters, { given: { [enrolled.key!]: 'true' } }), [true, 'super_condition_value', 0])
  t.same(told(filters), ['held', 'holdout_condition_value', null])
})

t.test('a share that no variant covers is on without one', async (t) => {
  const filters = { groups: [everyone], multivariate: variantsOf({ control: 10 }) }
  t.equal(flagValue('beta-feature', filters, { id: 'user1' }), true)
})

t.test('properties of the request go before derived and those before stored ones', async (t) => {
  const filters = { groups: [{ properties: [{ key: '$geoip_country_code', value: 'DE' }] }] }
  const layers = { given: { $geoip_country_code: 'DE' }, derived: { $geoip_country_code: 'DE' }, stored: {} }
  const other = { $geoip_country_code: 'US' }
  t.equal(flagValue('f', filters, { ...layers, derived: other, stored: other }), true)
  t.equal(flagValue('f', filters, { derived: layers.derived, stored: other }), true)
  t.equal(flagValue('f', filters, { given: other, derived: layers.derived }), false)
  t.equal(flagValue('f', filters, { stored: { $geoip_country_code: 'DE' } }), true)
})

t.test('the id is a property that nobody can claim', async (t) => {
  const mine = { groups: [{ properties: [{ key: 'distinct_id', value: 'user1' }] }] }
  t.equal(flagValue('f', mine, { id: 'user1', given: { distinct_id: 'other' } }), true)
  t.equal(flagValue('f', mine, { id: 'other', given: { distinct_id: 'user1' } }), false)
  const ours: FlagFilters = {
    aggregation_group_type_index: 0,
    groups: [{ properties: [{ key: '$group_key', value: 'acme', type: 'group' }] }],
  }
  t.equal(flagValue('f', ours, { groups: { 0: { id: 'acme', given: { $group_key: 'other' } } } }), true)
})

t.test('names of prototypes are no properties', async (t) => {
  for (const key of ['__proto__', 'constructor', 'toString']) {
    const filters = { groups: [{ properties: [{ key, operator: 'is_set' }] }] }
    t.equal(flagValue('f', filters, { given: {}, derived: {}, stored: {} }), false, key)
    t.equal(flagValue('f', filters, { given: JSON.parse(`{"${key}":1}`) }), true, key)
  }
})

t.test('what is not read is asked for only by flags that need it', async (t) => {
  const unread = { stored: null, staticCohorts: null, hashKeys: null }
  t.same(told({ groups: [everyone] }, unread), [true, 'condition_match', 0])
  t.same(told({ groups: [{ rollout_percentage: 50 }] }, { ...unread, id: 'user6' }), [
    true,
    'condition_match',
    0,
  ])
  t.equal(told({ groups: [{ properties: [plan] }] }, unread), null)
  t.same(told({ groups: [{ properties: [plan] }] }, { ...unread, given: { plan: 'pro' } }), [
    true,
    'condition_match',
    0,
  ])
  const two = { groups: [{ properties: [plan, { key: 'age', value: 1 }] }] }
  t.same(told(two, { ...unread, given: { plan: 'free' } }), [false, 'no_condition_match', 0])
  t.equal(told(two, { ...unread, given: { plan: 'pro' } }), null)
  t.same(told({ groups: [everyone, { properties: [plan] }] }, unread), [true, 'condition_match', 0])
  t.equal(told({ groups: [{ properties: [plan] }, everyone] }, unread), null)
})

t.test('a flag that keeps its value needs what it was only where a hash decides', async (t) => {
  const kept = (filters: FlagFilters) => flag('f', filters, { ensureExperienceContinuity: true })
  const unread = { hashKeys: null }
  t.equal(evaluateOne(kept({ groups: [everyone] }), unread)?.value, true)
  t.equal(evaluateOne(kept({ groups: [{ rollout_percentage: 50 }] }), unread), null)
  t.equal(evaluateOne(kept({ groups: [everyone], multivariate: variantsOf({ a: 100 }) }), unread), null)
  t.equal(
    evaluateOne(kept({ groups: [everyone], holdout_groups: [{ rollout_percentage: 5 }] }), unread),
    null,
  )
})

t.test('a flag may bucket by device', async (t) => {
  const one = flag(
    'beta-feature',
    { groups: [{ rollout_percentage: 50 }] },
    { bucketingIdentifier: 'device_id' },
  )
  t.equal(evaluateOne(one, { id: 'user1', deviceId: 'user6' })?.value, true)
  t.equal(evaluateOne(one, { id: 'user6', deviceId: 'user1' })?.value, false)
  t.equal(evaluateOne(one, { id: 'user6' })?.value, true, 'without a device it is the person')
})

const dependsOn = (key: string, value: unknown): FlagFilters => ({
  groups: [{ properties: [{ key, value, type: 'flag', operator: 'flag_evaluates_to' }] }],
})

/** Values or faults by key. */
function all(flags: readonly FlagDefinition[], asked: Asked = {}): unknown {
  const outcomes = [...evaluateAll(definitionsOf(flags), asked)]
  return Object.fromEntries(
    outcomes.map(([key, one]) => [key, one === null ? null : one.hasFailed ? one.reason : one.value]),
  )
}

t.test('a flag may depend on what others come to', async (t) => {
  const flags = [
    flag('wants-on', dependsOn('10', true), { id: 1 }),
    flag('wants-off', dependsOn('10', false), { id: 2 }),
    flag('wants-test', dependsOn('10', 'test'), { id: 3 }),
    flag('wants-Test', dependsOn('10', 'Test'), { id: 4 }),
    flag('wants-idle-off', dependsOn('11', false), { id: 5 }),
    flag('wants-idle-on', dependsOn('11', true), { id: 6 }),
    flag('wants-chain', dependsOn('1', true), { id: 7 }),
    flag('base', { groups: [{ properties: [plan] }], multivariate: variantsOf({ test: 100 }) }, { id: 10 }),
    flag('idle', { groups: [everyone] }, { id: 11, active: false }),
  ]
  const idle = { 'wants-idle-off': true, 'wants-idle-on': false }
  t.same(all(flags, { stored: { plan: 'pro' } }), {
    'wants-on': true,
    'wants-off': false,
    'wants-test': true,
    'wants-Test': false,
    ...idle,
    'wants-chain': true,
    base: 'test',
  })
  t.same(all(flags, { stored: null }), {
    'wants-on': null,
    'wants-off': null,
    'wants-test': null,
    'wants-Test': null,
    ...idle,
    'wants-chain': null,
    base: null,
  })
})

t.test('a dependency on nothing, or on itself, leaves a flag without a value', async (t) => {
  const flags = [
    flag('missing', dependsOn('99', true), { id: 1 }),
    flag('on-missing', dependsOn('1', false), { id: 2 }),
    flag('self', dependsOn('3', true), { id: 3 }),
    flag('one', dependsOn('5', true), { id: 4 }),
    flag('other', dependsOn('4', true), { id: 5 }),
    flag('sound', { groups: [everyone] }, { id: 6 }),
    flag('named', dependsOn('sound', true), { id: 7 }),
  ]
  t.same(all(flags), {
    missing: 'dependency_missing',
    'on-missing': 'dependency_missing',
    self: 'dependency_cycle',
    one: 'dependency_cycle',
    other: 'dependency_cycle',
    sound: true,
    named: 'dependency_missing',
  })
})

t.test('a chain of a hundred dependencies holds, a longer one is taken for a cycle', async (t) => {
  const chain = (length: number) =>
    Array.from({ length }, (_, index) =>
      flag(`f${index}`, index === length - 1 ? { groups: [everyone] } : dependsOn(String(index + 1), true), {
        id: index,
      }),
    )
  t.match(all(chain(101)), { f0: true })
  t.match(all(chain(103)), { f0: 'dependency_cycle', f102: true })
})

t.test('stored filters of any shape harm nobody', async (t) => {
  const odd: unknown[] = [null, 5, 'x', [], [null], { groups: 5 }, { groups: [null, 5, { properties: {} }] }]
  odd.push(
    { groups: [{ properties: [null, 5] }] },
    { groups: [everyone], multivariate: { variants: [null, {}] } },
  )
  odd.push({ groups: [everyone], payloads: [], super_groups: 5, holdout_groups: [null] })
  for (const filters of odd) {
    // Stored by an import, or by a version that checked less.
    const outcome = evaluateOne(flag('f', filters as FlagFilters))
    t.equal(outcome?.hasFailed, false, JSON.stringify(filters))
  }
  for (const rollout of [-1, 'x', {}, Number.NaN]) {
    t.equal(flagValue('f', { groups: [{ rollout_percentage: rollout as number }] }), false, String(rollout))
  }
  t.equal(flagValue('f', { groups: [{ rollout_percentage: 250 }] }), true)
})
