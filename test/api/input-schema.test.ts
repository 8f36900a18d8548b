import t from 'tap'
import { Type } from 'typebox'
import { checkReadable } from '../../src/api/input-schema.ts'

t.test('accepts what input is read by', async (t) => {
  const schema = Type.Object({
    a: Type.Union([Type.String(), Type.Null()]),
    b: Type.Array(Type.Union([Type.Literal('x'), Type.Literal('y')])),
    c: Type.Unknown(),
  })
  t.doesNotThrow(() => checkReadable(schema))
})

t.test('names the field whose alternatives would not be checked', async (t) => {
  const schema = Type.Object({
    a: Type.Array(Type.Object({ b: Type.Union([Type.String(), Type.Integer()]) })),
  })
  t.throws(() => checkReadable(schema, 'POST /x'), {
    message: /POST \/x\.a\[\]\.b has alternatives other than/,
  })
})

t.test('names the field whose type is not read', async (t) => {
  t.throws(() => checkReadable(Type.Object({ a: Type.BigInt() })), {
    message: /input\.a has the type bigint/,
  })
})
