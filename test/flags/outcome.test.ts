import t from 'tap'
import { failureOf, outcomeOf } from '../../src/flags/outcome.ts'
import { definitionsOf, evaluateAll, evaluateOne, flag, variantsOf } from './make.ts'

const facts = { id: 5, key: 'my "flag"', version: 3, payloads: new Map([['test', '{"a":1}']]) }

t.test('an outcome is written in every shape', async (t) => {
  const outcome = outcomeOf(facts, 'test', 'condition_match', 1)
  t.equal(outcome.valueMember, '"my \\"flag\\"":"test"')
  t.equal(outcome.payloadMember, '"my \\"flag\\"":"{\\"a\\":1}"')
  t.same(JSON.parse(`{${outcome.detailsMember}}`), {
    'my "flag"': {
      key: 'my "flag"',
      enabled: true,
      variant: 'test',
      reason: { code: 'condition_match', condition_index: 1, description: 'Matched condition set 2' },
      metadata: { id: 5, version: 3, description: null, payload: '{"a":1}' },
    },
  })
})

t.test('a flag that is off has no payload and says why', async (t) => {
  const described = {
    no_condition_match: 'No matching condition set',
    out_of_rollout_bound: 'Out of rollout bound',
    no_group_type: 'No group type',
    super_condition_value: 'Super condition value',
    holdout_condition_value: 'Holdout condition value',
  } as const
  for (const [reason, description] of Object.entries(described)) {
    // The keys of the object above.
    const outcome = outcomeOf(facts, false, reason as keyof typeof described, null)
    t.equal(outcome.valueMember, '"my \\"flag\\"":false')
    t.equal(outcome.payloadMember, null)
    t.match(JSON.parse(`{${outcome.detailsMember}}`)[facts.key], {
      enabled: false,
      variant: null,
      reason: { code: reason, condition_index: null, description },
      metadata: { payload: null },
    })
  }
})

t.test('a flag without a value says that it failed', async (t) => {
  const outcome = failureOf(facts, 'cohort_missing')
  t.equal(outcome.hasFailed, true)
  t.same(JSON.parse(`{${outcome.detailsMember}}`)[facts.key], {
    key: facts.key,
    enabled: false,
    variant: null,
    failed: true,
    reason: { code: 'cohort_missing', condition_index: null, description: 'A cohort does not exist' },
    metadata: { id: 5, version: 3, description: null, payload: null },
  })
})

t.test('a payload is always a string, and a secret one is never shown', async (t) => {
  const payloadOf = (payload: unknown, hasEncryptedPayloads = false) =>
    evaluateOne(flag('f', { groups: [{}], payloads: { true: payload } }, { hasEncryptedPayloads }))
      ?.payloadMember
  t.equal(payloadOf('plain'), '"f":"plain"')
  t.equal(payloadOf({ a: [1] }), '"f":"{\\"a\\":[1]}"')
  t.equal(payloadOf(0), '"f":"0"')
  t.equal(payloadOf(null), null)
  t.equal(payloadOf('secret', true), null)
})

t.test('of the same definitions, the same outcome is built once', async (t) => {
  const definitions = definitionsOf([flag('f', { groups: [{}], multivariate: variantsOf({ a: 100 }) })])
  t.equal(evaluateAll(definitions, { id: 'x' }).get('f'), evaluateAll(definitions, { id: 'y' }).get('f'))
})
