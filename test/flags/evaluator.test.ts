import t from 'tap'
import { type EvaluatorOptions, evaluateFlags } from '../../src/flags/evaluator.ts'
import { parseFlagRequest } from '../../src/flags/flag-request.ts'
import type { StoredQuestion } from '../../src/flags/stored-reads.ts'
import { definitionsOf, flag } from './make.ts'

const plan = [{ key: 'plan', value: 'pro', operator: 'exact', type: 'person' }] as const
const definitions = definitionsOf([flag('paid', { groups: [{ properties: plan }] })])

function asking(known: EvaluatorOptions['known']) {
  const reads: StoredQuestion[] = []
  const options: EvaluatorOptions = {
    definitions: { of: () => definitions },
    known,
    stored: {
      read: (question) => {
        reads.push(question)
        return new Promise(() => {})
      },
      keepHashKeys: async () => true,
    },
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    freshness: { isApplied: () => true, wait: async () => {} },
  }
  const question = {
    projectId: 1,
    distinctId: 'ada',
    request: parseFlagRequest({ distinct_id: 'ada' }),
    selection: { flagKeys: null, contexts: null, runtime: null, surveysOnly: false },
    derived: null,
  }
  return {
    reads,
    answer: async () => (await evaluateFlags(question, options)).outcomes.map(({ value }) => value),
  }
}

t.test('who is known is not read', async (t) => {
  const copy = { properties: { plan: 'pro' }, isDue: false }
  const { reads, answer } = asking({ person: () => copy, group: () => null })
  t.same(await answer(), [true])
  t.same(reads, [])
})

t.test('a copy that is due is read again, and the answer does not wait for it', async (t) => {
  const copy = { properties: { plan: 'pro' }, isDue: true }
  const { reads, answer } = asking({ person: () => copy, group: () => null })
  t.same(await answer(), [true])
  t.same(
    reads.map(({ projectId, distinctId }) => [projectId, distinctId]),
    [[1, 'ada']],
  )
})
