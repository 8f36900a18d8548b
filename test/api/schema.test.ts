import t from 'tap'
import * as TypeBox from 'typebox'
import { Type } from '../../src/api/schema.ts'

type Builders = typeof Type

/** Every builder with and without options, one in the other. */
function build(make: Builders) {
  const fields = {
    name: make.String({ minLength: 1, description: 'A name.' }),
    nickname: make.Optional(make.String()),
    isOpen: make.Boolean({ default: true }),
    size: make.Optional(make.Integer({ minimum: 0 })),
    share: make.Number({ maximum: 1 }),
    kind: make.Optional(make.Enum(['a', 'b'], { description: 'Which.' })),
    level: make.Union([make.Literal(1), make.Literal('member', { title: 'x' }), make.Literal(true)], {
      default: 1,
    }),
    empty: make.Optional(make.Null()),
    list: make.Array(make.Array(make.Unknown()), { maxItems: 3 }),
    any: make.Optional(make.Unsafe<string>({ type: 'string', 'x-lenient': true })),
  }
  const object = make.Object(fields, { title: 'All of them' })
  return [
    object,
    make.Required(object),
    make.Object({}),
    make.Object({ only: make.Optional(make.Boolean()) }),
    make.Unknown({ title: 'y' }),
  ]
}

t.test('builds what TypeBox builds, with the fields in the same order', async (t) => {
  t.equal(JSON.stringify(build(Type), null, 1), JSON.stringify(build(TypeBox), null, 1))
})

t.test('leaves a schema as it was when it makes it optional or required', async (t) => {
  const name = Type.String()
  const maybe = Type.Optional(name)
  t.same(Type.Object({ name }).required, ['name'])
  t.notOk('required' in Type.Object({ name: maybe }))
  const object = Type.Object({ name: maybe })
  t.same(Type.Required(object).required, ['name'])
  t.notOk('required' in object)
})
