import { strict as assert } from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import { type ToldEvent, tellAccount } from '../../src/identity/account.ts'
import { bornIdOf } from '../../src/identity/born-id.ts'
import { readOperations } from '../../src/identity/operations.ts'
import { inputsOf } from './check-history.ts'
import { history, ids } from './histories.ts'
import { MemoryStore } from './memory-store.ts'

const birth = (distinctId: string): ToldEvent => ({ kind: 'birth', distinctId, otherId: null })
const identify = (distinctId: string, otherId: string): ToldEvent => ({
  kind: 'identify',
  distinctId,
  otherId,
})

t.test('says of each event what it did', async (t) => {
  const { steps, owners } = tellAccount(1, [
    birth('anon'),
    birth('anon'),
    identify('anna', 'anon'),
    identify('anna', 'anon'),
    identify('bert', 'laptop'),
    identify('bert', 'anna'),
    identify('bert', 'null'),
    identify('bert', 'bert'),
    { kind: 'merge', distinctId: 'bert', otherId: 'anna' },
    identify('carl', 'none'),
  ])
  const anon = bornIdOf(1, 'anon')
  const bert = bornIdOf(1, 'bert')
  t.same(
    steps.map(({ outcome, reason, personUuid, joinedIds }) => [outcome, reason, personUuid, joinedIds]),
    [
      ['born', null, anon, ['anon']],
      ['unchanged', null, anon, []],
      ['attached', null, anon, ['anna']],
      ['unchanged', null, anon, []],
      ['created', null, bert, ['bert', 'laptop']],
      ['refused', 'cannot_merge_already_identified', bert, []],
      ['refused', 'cannot_merge_with_illegal_distinct_id', bert, []],
      ['unchanged', null, bert, []],
      ['merged', null, bert, ['anon', 'anna']],
      ['refused', 'cannot_merge_with_illegal_distinct_id', bornIdOf(1, 'carl'), ['carl']],
    ],
  )
  t.same(
    [...owners],
    [
      ['anon', bert],
      ['anna', bert],
      ['bert', bert],
      ['laptop', bert],
      ['carl', bornIdOf(1, 'carl')],
    ],
  )
})

t.test('ends where the fold ends, whatever came', async () => {
  fc.assert(
    fc.property(history(25), ({ happenings }) => {
      const inputs = inputsOf(happenings.filter(({ kind }) => kind === 'event'))
      const store = new MemoryStore()
      store.step(inputs)
      const told = inputs
        .flatMap((input) => (input.kind === 'events' ? readOperations(input, null).operations : []))
        .map(
          ({ kind, distinctId, otherId }): ToldEvent =>
            kind === 'identify' || kind === 'alias' || kind === 'merge'
              ? { kind, distinctId, otherId }
              : birth(distinctId),
        )
      const { owners } = tellAccount(1, told)
      for (const id of ids) assert.equal(owners.get(id), store.person(id)?.uuid)
    }),
    { numRuns: 300 },
  )
})
