import t from 'tap'
import { parseJsonBody } from '../../src/api/json-body.ts'
import type { HttpRequest } from '../../src/http/route.ts'
import { requestOf } from '../support/http-request.ts'

function bodyOf(text: string | Uint8Array, contentType = 'application/json'): HttpRequest {
  return requestOf({ headers: { 'content-type': contentType }, body: new Uint8Array(Buffer.from(text)) })
}

t.test('parses JSON, with or without a charset', async (t) => {
  t.strictSame(parseJsonBody(bodyOf('{"a":"é"}')), { a: 'é' })
  t.strictSame(parseJsonBody(bodyOf('[1]', 'Application/JSON; charset=utf-8')), [1])
})

t.test('takes an empty body of any type for an object without fields', async (t) => {
  t.strictSame(parseJsonBody(bodyOf('', '')), {})
})

for (const contentType of ['', 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
  t.test(`refuses content type "${contentType}"`, async (t) => {
    t.throws(() => parseJsonBody(bodyOf('{}', contentType)), {
      code: 'unsupported_media_type',
      detail: `Unsupported media type "${contentType}" in request.`,
    })
  })
}

t.test('refuses what is no JSON without quoting it', async (t) => {
  t.throws(() => parseJsonBody(bodyOf('{"password": hunter2}')), {
    code: 'parse_error',
    detail: /^JSON parse error - (?!.*hunter2)/,
  })
  t.throws(() => parseJsonBody(bodyOf(Buffer.from([0x22, 0xff, 0x22]))), {
    code: 'parse_error',
    detail: 'JSON parse error - invalid UTF-8',
  })
})

t.test('reads 32 levels and refuses 33', async (t) => {
  t.ok(parseJsonBody(bodyOf('['.repeat(32) + ']'.repeat(32))))
  t.throws(() => parseJsonBody(bodyOf('['.repeat(33) + ']'.repeat(33))), {
    code: 'parse_error',
    detail: 'JSON parse error - nesting is deeper than 32 levels',
  })
  t.ok(
    parseJsonBody(bodyOf(JSON.stringify({ text: `${'['.repeat(40)}\\"${'{'.repeat(40)}` }))),
    'not in text',
  )
})
