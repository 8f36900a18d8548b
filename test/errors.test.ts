import t from 'tap'
import { errorCodes, errorRow, isServiceError, ServiceError } from '../src/errors.ts'

t.test('an error carries the wording of its row unless it says more', async (t) => {
  t.equal(new ServiceError('payload_empty').detail, 'request holds no event')
  t.equal(new ServiceError('payload_empty', { detail: 'more' }).detail, 'more')
  t.equal(new ServiceError('required', { attr: 'name' }).attr, 'name')
})

t.test('an error keeps its cause', async (t) => {
  const cause = new Error('disk')
  t.equal(new ServiceError('journal_failed', { cause }).cause, cause)
})

t.test('errors are told apart by their code', async (t) => {
  const error = new ServiceError('not_found')
  t.ok(isServiceError(error))
  t.ok(isServiceError(error, 'not_found', 'internal'))
  t.notOk(isServiceError(error, 'internal'))
  t.notOk(isServiceError(new Error('not_found')))
})

t.test('overload of capture is 503 and retryable, never 429: browsers drop events on 429', async (t) => {
  for (const code of ['capture_overloaded', 'journal_full', 'journal_failed', 'stopping'] as const) {
    t.equal(errorRow(code).status, 503)
    t.equal(errorRow(code).retryable, true)
  }
})

t.test('every code has a status that is an error', async (t) => {
  for (const code of errorCodes) t.ok(errorRow(code).status >= 400, code)
})
