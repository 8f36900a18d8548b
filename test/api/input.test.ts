import t from 'tap'
import { type TSchema, Type } from 'typebox'
import { readInput } from '../../src/api/input.ts'
import { isServiceError } from '../../src/errors.ts'

const invite = Type.Object({
  target_email: Type.String({ format: 'email', minLength: 1 }),
  first_name: Type.Optional(Type.String({ maxLength: 3, default: 'A' })),
  level: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(8)])),
  message: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  access: Type.Optional(Type.Array(Type.Object({ id: Type.Integer() }), { maxItems: 2 })),
  destination: Type.Optional(Type.Object({ type: Type.Enum(['S3', 'Postgres']) })),
  extra: Type.Optional(Type.Unknown()),
})

/** The fault that reading ends with, as `code attr detail`. */
function faultOf(schema: TSchema, value: unknown): string {
  try {
    readInput(schema, value)
    return 'none'
  } catch (error) {
    return isServiceError(error) ? `${error.code} ${error.attr} ${error.detail}` : String(error)
  }
}

t.test('keeps known fields, fills defaults in and leaves unknown fields out', async (t) => {
  const read = readInput(invite, {
    is_admin: true,
    target_email: ' a@b.co ',
    message: null,
    extra: [1, { b: 2 }],
  })
  t.strictSame(read, { target_email: 'a@b.co', first_name: 'A', message: null, extra: [1, { b: 2 }] })
})

t.test('takes nothing from a prototype and gives nothing to one', async (t) => {
  const value = JSON.parse('{"__proto__":{"target_email":"a@b.co"},"constructor":1}')
  t.equal(faultOf(invite, value), 'required target_email This field is required.')
  const read = readInput(
    Type.Object({ extra: Type.Unknown() }),
    JSON.parse('{"extra":{"__proto__":{"x":1}}}'),
  )
  t.equal(JSON.stringify(read), '{"extra":{"__proto__":{"x":1}}}')
  t.equal(Reflect.get({}, 'x'), undefined)
})

const mail = { target_email: 'a@b.co' }
const faults: [name: string, value: unknown, fault: string][] = [
  ['a list for an object', [], 'invalid_input null Invalid data. Expected a dictionary, but got list.'],
  ['text for an object', 'x', 'invalid_input null Invalid data. Expected a dictionary, but got str.'],
  ['null for an object', null, 'null null This field may not be null.'],
  ['a missing field', {}, 'required target_email This field is required.'],
  ['null', { target_email: null }, 'null target_email This field may not be null.'],
  ['blank text', { target_email: '  ' }, 'blank target_email This field may not be blank.'],
  [
    'the first fault only',
    { level: 5, target_email: 'x' },
    'invalid_input target_email Enter a valid email address.',
  ],
  [
    'long text',
    { ...mail, first_name: 'abcd' },
    'max_length first_name Ensure this field has no more than 3 characters.',
  ],
  ['another choice', { ...mail, level: 5 }, 'invalid_choice level "5" is not a valid choice.'],
  [
    'a nested choice',
    { ...mail, destination: { type: 'FTP' } },
    'invalid_choice destination__type "FTP" is not a valid choice.',
  ],
  [
    'a missing nested field',
    { ...mail, destination: {} },
    'required destination__type This field is required.',
  ],
  [
    'an object for a list',
    { ...mail, access: {} },
    'not_a_list access Expected a list of items but got type "dict".',
  ],
  [
    'a fault in a list',
    { ...mail, access: [{ id: 1 }, { id: 'x' }] },
    'invalid_input access__1__id A valid integer is required.',
  ],
  [
    'a long list',
    { ...mail, access: [{}, {}, {}] },
    'max_length access Ensure this field has no more than 2 elements.',
  ],
]
for (const [name, value, fault] of faults) {
  t.test(`refuses ${name}`, async (t) => {
    t.equal(faultOf(invite, value), fault)
  })
}

t.test('finds a choice also when a number came as text', async (t) => {
  t.strictSame(readInput(invite, { ...mail, level: '8' }), {
    target_email: 'a@b.co',
    first_name: 'A',
    level: 8,
  })
})

t.test('accepts a length at the limit, counted in characters', async (t) => {
  t.equal(faultOf(invite, { ...mail, first_name: '👍👍👍' }), 'none')
})

t.test('reads a lenient field as it is, whatever its type says', async (t) => {
  const schema = Type.Object({ limit: Type.Unsafe<unknown>({ type: 'integer', 'x-lenient': true }) })
  t.strictSame(readInput(schema, { limit: 'many' }), { limit: 'many' })
  t.throws(() => readInput(schema, { limit: 'a\0' }), { code: 'invalid_input', attr: 'limit' })
})
