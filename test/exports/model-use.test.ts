import t from 'tap'
import { checkModel, type ModelUse, remarkOf } from '../../src/exports/model-use.ts'

const plain: ModelUse = { model: 'persons', destination_type: 'S3', hogql_query: null, filters: null }

t.test('persons and sessions go where rows are kept, and as they are', async (t) => {
  for (const model of ['events', 'persons', 'sessions'] as const) {
    for (const filters of [null, [], {}]) checkModel({ ...plain, model, filters })
  }
  checkModel({ model: 'events', destination_type: 'HTTP', hogql_query: 'select 1', filters: [{ key: 'a' }] })
  const refusals: [Partial<ModelUse>, attr: string, detail: RegExp][] = [
    [{ destination_type: 'HTTP' }, 'destination', /takes events, not persons/],
    [{ hogql_query: 'select event from events', model: 'sessions' }, 'hogql_query', /not sessions/],
  ]
  for (const [use, attr, detail] of refusals)
    t.throws(() => checkModel({ ...plain, ...use }), { code: 'invalid_input', attr, detail })
})

t.test('filters that no run could use are refused', async (t) => {
  const ofPersons = [{ key: 'plan', value: 'pro', type: 'person' }]
  checkModel({ ...plain, filters: ofPersons })
  checkModel({
    ...plain,
    model: 'events',
    filters: [...ofPersons, { key: 'a', type: 'event' }, { key: 'b' }],
  })
  checkModel({ ...plain, model: 'sessions', filters: 'any' })
  const refused = {
    code: 'invalid_input',
    attr: 'filters',
    detail: /where type is event or person and operator one of/,
  }
  for (const filters of [
    [{ key: 'id', value: 1, type: 'cohort' }],
    [{ key: 'a', operator: 'like' }],
    [{ value: 1 }],
    'a',
    { type: 'OR', values: [] },
  ])
    t.throws(() => checkModel({ ...plain, model: 'events', filters }), refused)
  t.throws(() => checkModel({ ...plain, filters: [{ key: 'a', type: 'event' }] }), {
    ...refused,
    detail: /type is person/,
  })
})

t.test('filters of sessions are remarked on', async (t) => {
  const filters = [{ key: 'a' }]
  const remark = 'The filters have no effect on sessions: they are for events and persons.'
  t.equal(remarkOf({ model: 'sessions', filters }), remark)
  for (const model of ['events', 'persons'] as const) t.equal(remarkOf({ model, filters }), null)
  for (const none of [null, [], {}]) t.equal(remarkOf({ model: 'sessions', filters: none }), null)
})
