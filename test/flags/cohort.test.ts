import t from 'tap'
import type { CohortDefinition, CohortGroup, PropertyFilter } from '../../src/flags/definition.ts'
import { type Asked, cohort, definitionsOf, evaluateAll, flag } from './make.ts'

const plan = (value: string, more: Partial<PropertyFilter> = {}): PropertyFilter => ({
  key: 'plan',
  value,
  operator: 'exact',
  type: 'person',
  ...more,
})
const inCohort = (value: unknown, more: Partial<PropertyFilter> = {}): PropertyFilter => ({
  key: 'id',
  value,
  type: 'cohort',
  ...more,
})
const all = (...values: CohortGroup['values'] & object[]): CohortGroup => ({ type: 'AND', values })
const any = (...values: CohortGroup['values'] & object[]): CohortGroup => ({ type: 'OR', values })

/** What a flag for `filter` comes to: its value, the fault, or null when something is unread. */
function asked(filter: PropertyFilter, cohorts: readonly CohortDefinition[], asked: Asked): unknown {
  const project = definitionsOf([flag('f', { groups: [{ properties: [filter] }] })], cohorts)
  const outcome = evaluateAll(project, asked).get('f')
  return outcome?.hasFailed ? outcome.reason : (outcome?.value ?? null)
}

t.test('a dynamic cohort is a tree of filters', async (t) => {
  const cohorts = [cohort(1, any(all(plan('pro'), { key: 'age', value: 18, operator: 'gte' }), plan('team')))]
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'pro', age: 20 } }), true)
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'pro', age: 17 } }), false)
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'team' } }), true)
  t.equal(asked(inCohort('1'), cohorts, { stored: {} }), false)
  t.equal(asked(inCohort(1, { operator: 'in' }), cohorts, { stored: { plan: 'team' } }), true)
  t.equal(asked(inCohort(1, { operator: 'not_in' }), cohorts, { stored: { plan: 'team' } }), false)
  t.equal(asked(inCohort(1, { negation: true }), cohorts, { stored: {} }), true)
  t.equal(asked(inCohort(1, { operator: 'not_in', negation: true }), cohorts, { stored: {} }), false)
})

t.test('a filter of a cohort may be negated', async (t) => {
  const cohorts = [cohort(1, all(plan('pro', { negation: true })))]
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'pro' } }), false)
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'free' } }), true)
  t.equal(asked(inCohort(1), cohorts, { stored: {} }), true)
})

t.test('cohorts stand inside cohorts', async (t) => {
  const cohorts = [
    cohort(1, all(inCohort(2), inCohort(3, { negation: true }))),
    cohort(2, any(plan('pro'))),
    cohort(3, any({ key: 'banned', value: true })),
  ]
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'pro' } }), true)
  t.equal(asked(inCohort(1), cohorts, { stored: { plan: 'pro', banned: true } }), false)
  t.equal(asked(inCohort(1), cohorts, { stored: {} }), false)
})

t.test('a cohort that does not exist, or depends on itself, leaves the flag without a value', async (t) => {
  const cohorts = [
    cohort(1, all(inCohort(2))),
    cohort(2, any(plan('pro'), inCohort(1))),
    cohort(3, all(inCohort(9))),
    cohort(4, all(inCohort(1))),
    cohort(5, all(inCohort(5))),
  ]
  for (const id of [1, 2, 4, 5])
    t.equal(asked(inCohort(id), cohorts, { stored: {} }), 'cohort_cycle', `cohort ${id}`)
  for (const id of [3, 9, '9', 'x', null]) {
    t.equal(
      asked(inCohort(id, { operator: 'not_in' }), cohorts, { stored: {} }),
      'cohort_missing',
      `cohort ${id}`,
    )
  }
})

t.test('a fault is met only where the other filters match', async (t) => {
  const conditions = [{ properties: [inCohort(9), plan('pro')] }, { properties: [] }]
  const project = definitionsOf([flag('f', { groups: conditions })])
  t.equal(evaluateAll(project, { stored: { plan: 'free' } }).get('f')?.value, true)
  t.equal(evaluateAll(project, { stored: { plan: 'pro' } }).get('f')?.reason, 'cohort_missing')
})

t.test('what cannot be evaluated matches nobody, and neither does what holds nothing', async (t) => {
  const odd = [
    null,
    all(),
    any(),
    any(all()),
    all(plan('pro'), any()),
    all({ key: '$pageview', value: 'performed_event', type: 'behavioral' } as never),
    { type: 'XOR', values: [plan('pro')] } as never,
    all(null as never),
    { type: 'AND', values: 'pro' } as never,
  ]
  for (const tree of odd) {
    t.equal(asked(inCohort(1), [cohort(1, tree)], { stored: { plan: 'pro' } }), false, JSON.stringify(tree))
  }
})

t.test('groups are followed to a depth, not for ever', async (t) => {
  const nested = (depth: number): CohortGroup => (depth === 0 ? all(plan('pro')) : all(nested(depth - 1)))
  t.equal(asked(inCohort(1), [cohort(1, nested(63))], { stored: { plan: 'pro' } }), true)
  t.equal(asked(inCohort(1), [cohort(1, nested(64))], { stored: { plan: 'pro' } }), false)
  t.equal(asked(inCohort(1), [cohort(1, nested(5000))], { stored: { plan: 'pro' } }), false)
})

t.test('a static cohort waits for its members to be read, unless another filter decides', async (t) => {
  const cohorts: CohortDefinition[] = [
    { id: 7, isStatic: true, properties: null },
    cohort(1, any(inCohort(7), plan('team'))),
  ]
  t.equal(asked(inCohort(7), cohorts, { staticCohorts: null }), null)
  t.equal(asked(inCohort(7, { operator: 'not_in' }), cohorts, { staticCohorts: null }), null)
  t.equal(asked(inCohort(7), cohorts, { staticCohorts: [7] }), true)
  t.equal(asked(inCohort(1), cohorts, { staticCohorts: null, given: { plan: 'team' } }), true)
  t.equal(asked(inCohort(1), cohorts, { staticCohorts: null, given: { plan: 'pro' } }), null)
  t.equal(asked(inCohort(1), cohorts, { staticCohorts: [7], given: { plan: 'pro' } }), true)
  t.equal(asked(inCohort(1), cohorts, { staticCohorts: [8], given: { plan: 'pro' } }), false)
})

t.test('a chain of cohorts may be a hundred long, and a longer one is taken for a cycle', async (t) => {
  const chain = (length: number): CohortDefinition[] => [
    ...Array.from({ length: length - 1 }, (_, index) => cohort(index + 1, all(inCohort(index + 2)))),
    cohort(length, all(plan('pro'))),
  ]
  const pro = { stored: { plan: 'pro' } }
  t.equal(asked(inCohort(1), chain(100), pro), true)
  t.equal(asked(inCohort(1), chain(101), pro), 'cohort_cycle')
  t.equal(asked(inCohort(1), chain(20_000), pro), 'cohort_cycle')
})
