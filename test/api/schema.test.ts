import t from 'tap'
import * as TypeBox from 'typebox'
import { Type } from '../../src/api/schema.ts'

type Builders = typeof Type

/** Every builder with and without options, one in the other. */
function build({ Array, Enum, Literal, Null, Number, Object, Optional, Required, ...more }: Builders) {
  const { Boolean, Integer, String, Union, Unknown, Unsafe } = more
  const fields = {
    name: String({ minLength: 1, description: 'A name.' }),
    nickname: Optional(String()),
    isOpen: Boolean({ default: true }),
    size: Optional(Integer({ minimum: 0 })),
    share: Number({ maximum: 1 }),
    kind: Optional(Enum(['a', 'b'], { description: 'Which.' })),
    level: Union([Literal(1), Literal('member', { title: 'x' }), Literal(true)], { default: 1 }),
    empty: Optional(Null()),
    list: Array(Array(Unknown()), { maxItems: 3 }),
    any: Optional(Unsafe<string>({ type: 'string', 'x-lenient': true })),
  }
  const object = Object(fields, { title: 'All of them' })
  return [
    object,
    Required(object),
    Object({}),
    Object({ only: Optional(Boolean()) }),
    Unknown({ title: 'y' }),
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
