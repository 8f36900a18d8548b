import t from 'tap'
import { readBoolean, readInteger, readNumber, readText } from '../../src/api/scalars.ts'
import { isServiceError } from '../../src/errors.ts'

function outcome(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    return isServiceError(error) ? `${error.code}: ${error.detail}` : error
  }
}

const noBoolean = 'invalid_input: Must be a valid boolean.'
const booleans: [unknown, unknown][] = [
  [true, true],
  [1, true],
  ['Yes', true],
  ['on', true],
  ['T', true],
  [0, false],
  ['FALSE', false],
  ['n', false],
  ['off', false],
  ['maybe', noBoolean],
  [2, noBoolean],
  [{}, noBoolean],
]
for (const [sent, expected] of booleans) {
  t.test(`boolean ${JSON.stringify(sent)}`, async (t) => {
    t.equal(
      outcome(() => readBoolean(sent, null)),
      expected,
    )
  })
}

const noInteger = 'invalid_input: A valid integer is required.'
const integers: [unknown, unknown][] = [
  [5, 5],
  ['5', 5],
  [' -7.0 ', -7],
  [1.5, noInteger],
  ['1e3', noInteger],
  [true, noInteger],
  [2 ** 53, noInteger],
  [10, 10],
  [11, 'max_value: Ensure this value is less than or equal to 10.'],
  [-10, -10],
  [-11, 'min_value: Ensure this value is greater than or equal to -10.'],
]
for (const [sent, expected] of integers) {
  t.test(`integer ${JSON.stringify(sent)}`, async (t) => {
    t.equal(
      outcome(() => readInteger({ minimum: -10, maximum: 10 }, sent, null)),
      expected,
    )
  })
}

t.test('numbers', async (t) => {
  t.equal(readNumber({}, '0.25', null), 0.25)
  t.equal(
    outcome(() => readNumber({}, 'NaN', null)),
    'invalid_input: A valid number is required.',
  )
  t.equal(
    outcome(() => readNumber({}, '', null)),
    'invalid_input: A valid number is required.',
  )
})

const noText = 'invalid_input: Not a valid string.'
const noEmail = 'invalid_input: Enter a valid email address.'
const noUuid = 'invalid_input: Must be a valid UUID.'
const texts: [schema: object, unknown, unknown][] = [
  [{}, ' a ', 'a'],
  [{}, 12, '12'],
  [{}, '', ''],
  [{}, true, noText],
  [{}, ['a'], noText],
  [{}, 'a\0b', 'invalid_input: Null characters are not allowed.'],
  [{ format: 'email' }, 'User@Example.com', 'User@example.com'],
  [{ format: 'email' }, 'a@Münster.de', 'a@xn--mnster-3ya.de'],
  [{ format: 'email' }, 'a@b', noEmail],
  [{ format: 'email' }, 'a b@c.de', noEmail],
  [{ format: 'uuid' }, '0191E9CE-9a87-7000-8000-000000000000', '0191E9CE-9a87-7000-8000-000000000000'],
  [{ format: 'uuid' }, '0191', noUuid],
  [{ format: 'uuid' }, '', noUuid],
  [{ format: 'email' }, '', ''],
  [{ format: 'uri' }, '', ''],
  [{ format: 'uri' }, 'https://a.b/c', 'https://a.b/c'],
  [{ format: 'uri' }, 'javascript:alert(1)', 'invalid_input: Enter a valid URL.'],
  [{ format: 'date-time' }, '2021-01-01T00:00:00Z', '2021-01-01T00:00:00Z'],
  [{ format: 'date-time' }, '2021-01-01 00:00+02:00', '2021-01-01 00:00+02:00'],
  [{ pattern: '^[a-z]+$' }, 'abc', 'abc'],
  [{ pattern: '^[a-z]+$' }, 'ABC', 'invalid_input: Enter a valid value.'],
]
for (const [schema, sent, expected] of texts) {
  t.test(`text ${JSON.stringify(schema)} ${JSON.stringify(sent)}`, async (t) => {
    t.equal(
      outcome(() => readText(schema, sent, null)),
      expected,
    )
  })
}

for (const sent of ['', 'not a date', '2021-01-01T00:00:00', '2021-01-01', '2021-13-01T00:00:00Z']) {
  t.test(`no moment: ${sent}`, async (t) => {
    const refused = outcome(() => readText({ format: 'date-time' }, sent, null))
    t.match(refused, /^invalid_input: Datetime has wrong format\. Use one of these formats instead: /)
  })
}
