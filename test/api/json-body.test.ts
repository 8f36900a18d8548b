import t from 'tap'
import { parseJsonBody } from '../../src/api/json-body.ts'
import type { HttpRequest } from '../../src/http/route.ts'
import { requestOf } from '../support/http-request.ts'

function bodyOf(text: string | Uint8Array, contentType = 'application/json'): HttpRequest {
  return requestOf({ headers: { 'content-type': contentType }, body: new Uint8Array(Buffer.from(text)) })
}

t.test('parses JSON, with or without a charset', async (t) => {
  t.strictSame(await parseJsonBody(bodyOf('{"a":"é"}')), { a: 'é' })
  t.strictSame(await parseJsonBody(bodyOf('[1]', 'Application/JSON; charset=utf-8')), [1])
})

t.test('takes an empty body of any type for an object without fields', async (t) => {
  t.strictSame(await parseJsonBody(bodyOf('', '')), {})
})

for (const contentType of ['', 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
  t.test(`refuses content type "${contentType}"`, async (t) => {
    await t.rejects(parseJsonBody(bodyOf('{}', contentType)), {
      code: 'unsupported_media_type',
      detail: `Unsupported media type "${contentType}" in request.`,
    })
  })
}

t.test('refuses what is no JSON without quoting it', async (t) => {
  await t.rejects(parseJsonBody(bodyOf('{"password": hunter2}')), {
    code: 'parse_error',
    detail: /^JSON parse error - (?!.*hunter2)/,
  })
  await t.rejects(parseJsonBody(bodyOf(Buffer.from([0x22, 0xff, 0x22]))), {
    code: 'parse_error',
    detail: 'JSON parse error - invalid UTF-8',
  })
})

t.test('reads 32 levels and refuses 33', async (t) => {
  t.ok(await parseJsonBody(bodyOf('['.repeat(32) + ']'.repeat(32))))
  await t.rejects(parseJsonBody(bodyOf('['.repeat(33) + ']'.repeat(33))), {
    code: 'parse_error',
    detail: 'JSON parse error - nesting is deeper than 32 levels',
  })
  t.ok(
    await parseJsonBody(bodyOf(JSON.stringify({ text: `${'['.repeat(40)}\\"${'{'.repeat(40)}` }))),
    'not in text',
  )
})

t.test('reads a large body of few values, and refuses a small one of too many', async (t) => {
  const text = 'é'.repeat(500_000)
  t.strictSame(await parseJsonBody(bodyOf(JSON.stringify([text]))), [text])
  const zeros = (count: number) => bodyOf(JSON.stringify(Array<number>(count).fill(0)))
  t.match(await parseJsonBody(zeros(40_000)), { length: 40_000 })
  await t.rejects(parseJsonBody(zeros(40_001)), {
    code: 'parse_error',
    detail: 'JSON parse error - it has more than 40000 brackets, commas and colons',
  })
})

t.test('lets others go on while it reads a large body', async (t) => {
  let turns = 0
  const count = (): void => {
    turns++
    setImmediate(count).unref()
  }
  setImmediate(count).unref()
  await parseJsonBody(bodyOf('[0]'))
  t.equal(turns, 0, 'a small one is read at once')
  await parseJsonBody(bodyOf(JSON.stringify('a'.repeat(100_000))))
  t.ok(turns >= 2, `${turns} turns`)
})

t.test('passes over a byte order mark', async (t) => {
  t.strictSame(await parseJsonBody(bodyOf('\ufeff{"a":1}')), { a: 1 })
})
