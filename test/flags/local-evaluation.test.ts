import t from 'tap'
import type {
  CohortDefinition,
  FlagDefinition,
  FlagFilters,
  ProjectDefinitions,
} from '../../src/flags/definition.ts'
import { localEvaluation } from '../../src/flags/local-evaluation.ts'

function flag(
  id: number,
  key: string,
  filters: FlagFilters,
  changed: Partial<FlagDefinition> = {},
): FlagDefinition {
  return {
    id,
    key,
    name: '',
    active: true,
    version: 1,
    filters,
    ensureExperienceContinuity: false,
    evaluationRuntime: 'all',
    evaluationTags: [],
    isRemoteConfiguration: false,
    hasEncryptedPayloads: false,
    bucketingIdentifier: 'distinct_id',
    ...changed,
  }
}

function defined(flags: FlagDefinition[], cohorts: CohortDefinition[] = []): ProjectDefinitions {
  return {
    flags,
    cohorts: new Map(cohorts.map((cohort) => [cohort.id, cohort])),
    groupTypes: new Map(),
    earlyAccessFeatures: [],
  }
}

const on = (...ids: number[]): FlagFilters => ({
  groups: [
    {
      properties: ids.map((id) => ({
        type: 'flag',
        key: String(id),
        value: true,
        operator: 'flag_evaluates_to',
      })),
    },
  ],
})

t.test('names what must be evaluated before a flag, once and in order', async (t) => {
  const definitions = defined([
    flag(1, 'a', { groups: [] }),
    flag(2, 'b', on(1)),
    flag(3, 'c', on(1)),
    flag(4, 'd', on(2, 3)),
    flag(5, 'top', on(4, 99)),
    flag(6, 'x', on(7)),
    flag(7, 'y', on(6)),
  ])
  const { flags } = JSON.parse(localEvaluation(1, definitions, true).text)
  const chains = (index: number) =>
    flags[index].filters.groups[0].properties.map((one: { key: string; dependency_chain: string[] }) => [
      one.key,
      one.dependency_chain,
    ])
  t.same(chains(4), [
    ['d', ['a', 'c', 'b', 'd']],
    ['99', []],
  ])
  t.same(chains(5), [['y', []]], 'an empty chain is what SDKs take for a circle')
})

t.test('sends the cohorts that flags need, and those within them', async (t) => {
  const leaf = { key: 'plan', value: 'pro' }
  const inside = (value: number) => ({ type: 'cohort' as const, key: 'id', value })
  const definitions = defined(
    [flag(1, 'a', { groups: [{ properties: [inside(1), inside(3)] }] })],
    [
      { id: 1, isStatic: false, properties: { type: 'AND', values: [inside(2), inside(1)] } },
      { id: 2, isStatic: false, properties: { type: 'OR', values: [leaf] } },
      { id: 3, isStatic: true, properties: null },
      { id: 4, isStatic: false, properties: { type: 'OR', values: [leaf] } },
    ],
  )
  t.same(Object.keys(JSON.parse(localEvaluation(1, definitions, true).text).cohorts), ['1', '2'])
})

t.test('hides encrypted payloads', async (t) => {
  const filters = { groups: [], payloads: { true: '"secret"' } }
  const definitions = defined([flag(1, 'a', filters, { hasEncryptedPayloads: true }), flag(2, 'b', filters)])
  const { flags } = JSON.parse(localEvaluation(1, definitions, false).text)
  t.same([flags[0].filters.payloads, flags[1].filters.payloads], [{}, { true: '"secret"' }])
})

t.test('is made once for each state of the definitions', async (t) => {
  const definitions = defined([flag(1, 'a', { groups: [] })])
  const first = localEvaluation(1, definitions, true)
  t.equal(localEvaluation(1, definitions, true), first)
  t.not(localEvaluation(1, definitions, false), first)
  t.equal(localEvaluation(1, defined([flag(1, 'a', { groups: [] })]), true).etag, first.etag)
  t.not(localEvaluation(2, defined([flag(1, 'a', { groups: [] })]), true).etag, first.etag)
})
