import t from 'tap'
import { Type } from 'typebox'
import { readInput } from '../../src/api/input.ts'
import { checkReadable, jsonField, partialOf } from '../../src/api/input-schema.ts'

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

t.test('a part of a schema asks for nothing and fills nothing in', async (t) => {
  const whole = Type.Object({ name: Type.String({ minLength: 1 }), size: Type.Integer({ default: 3 }) })
  t.strictSame(readInput(whole, { name: 'a' }), { name: 'a', size: 3 })
  t.strictSame(readInput(partialOf(whole), {}), {})
  t.strictSame(readInput(partialOf(whole), { size: '4', more: 1 }), { size: 4 })
  t.throws(() => readInput(partialOf(whole), { name: '' }), { code: 'blank', attr: 'name' })
  t.throws(() => readInput(partialOf(whole), { name: null }), { code: 'null', attr: 'name' })
})

t.test('JSON of any shape is kept as it was sent, names of prototypes included', async (t) => {
  const schema = Type.Object({ filters: jsonField })
  t.doesNotThrow(() => checkReadable(schema))
  const text = '{"filters":{"__proto__":{"a":[1,null]},"constructor":"x"}}'
  t.equal(JSON.stringify(readInput(schema, JSON.parse(text))), text)
  t.strictSame(readInput(schema, { filters: [{ a: 1 }] }), { filters: [{ a: 1 }] })
  t.strictSame(readInput(schema, { filters: null }), { filters: null })
  for (const filters of ['text', 1, true, { a: ['\0'] }, { '\ud800': 1 }, ['\udfff']]) {
    t.throws(() => readInput(schema, { filters }), { code: 'invalid_input', attr: 'filters' })
  }
})
