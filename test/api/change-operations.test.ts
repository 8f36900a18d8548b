import t from 'tap'
import { Type } from 'typebox'
import { changeOperations } from '../../src/api/change-operations.ts'
import { readInput } from '../../src/api/input.ts'
import { userOperation } from '../../src/api/operation.ts'

const input = Type.Object({ name: Type.String(), count: Type.Integer({ default: 7 }) })

t.test('makes a PUT of the whole and a PATCH of any part', async (t) => {
  const operations = changeOperations({ input, name: 'things', put: 'Whole', patch: 'Part' }, (change) =>
    userOperation({
      ...change,
      path: '/api/things/:id',
      tag: 'things',
      query: null,
      status: 200,
      response: null,
      handle: ({ body }) => [body.name, body.count],
    }),
  )
  t.strictSame(
    operations.map(({ method, operationId, summary }) => [method, operationId, summary]),
    [
      ['PUT', 'things_update', 'Whole'],
      ['PATCH', 'things_partial_update', 'Part'],
    ],
  )
  const [put, patch] = operations
  t.strictSame(readInput(put!.body!, { name: 'a' }), { name: 'a', count: 7 })
  t.throws(() => readInput(put!.body!, {}), { code: 'required', attr: 'name' })
  t.strictSame(readInput(patch!.body!, {}), {})
  t.strictSame(readInput(patch!.body!, { count: '3' }), { count: 3 })
})
