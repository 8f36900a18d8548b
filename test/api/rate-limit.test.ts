import t from 'tap'
import { RateLimit } from '../../src/api/rate-limit.ts'

function world() {
  const moving = { ms: 0 }
  const limit = new RateLimit({ nowMs: () => 0, monotonicMs: () => moving.ms })
  return { moving, limit }
}

t.test('lets a key ask 480 times a minute', async (t) => {
  const { limit, moving } = world()
  for (let count = 0; count < 480; count++) limit.countKey('a')
  moving.ms = 18_500
  t.throws(() => limit.countKey('a'), {
    code: 'throttled',
    detail: 'Request was throttled. Expected available in 42 seconds.',
    retryAfterSeconds: 42,
  })
  t.doesNotThrow(() => limit.countKey('b'))
  moving.ms = 60_000
  t.doesNotThrow(() => limit.countKey('a'))
})

t.test('lets a key ask 4,800 times an hour', async (t) => {
  const { limit, moving } = world()
  for (let minute = 0; minute < 10; minute++) {
    moving.ms = minute * 60_000
    for (let count = 0; count < 480; count++) limit.countKey('a')
  }
  moving.ms = 3_599_000
  t.throws(() => limit.countKey('a'), { code: 'throttled', retryAfterSeconds: 1 })
  moving.ms = 3_600_000
  t.doesNotThrow(() => limit.countKey('a'))
})

t.test('lets a key ask for definitions 600 times a minute, whatever else it asks for', async (t) => {
  const { limit, moving } = world()
  for (let count = 0; count < 480; count++) limit.countKey('a')
  for (let count = 0; count < 600; count++) limit.countKey('a', 'definitions')
  t.throws(() => limit.countKey('a', 'definitions'), { code: 'throttled', retryAfterSeconds: 60 })
  for (let count = 0; count < 10; count++) limit.countFailure('1.2.3.4')
  t.doesNotThrow(() => limit.checkAddress('1.2.3.4', 'a'))
  for (let minute = 1; minute <= 10; minute++) {
    moving.ms = minute * 60_000
    for (let count = 0; count < 600; count++) limit.countKey('a', 'definitions')
  }
  t.throws(() => limit.countKey('a', 'definitions'), { code: 'throttled' })
})

t.test('holds off an address after ten wrong keys, but not a key that was right of late', async (t) => {
  const { limit, moving } = world()
  limit.countKey('good')
  for (let count = 0; count < 10; count++) {
    limit.checkAddress('1.2.3.4', 'bad')
    limit.countFailure('1.2.3.4')
  }
  t.throws(() => limit.checkAddress('1.2.3.4', 'bad'), { code: 'throttled', retryAfterSeconds: 60 })
  t.doesNotThrow(() => limit.checkAddress('1.2.3.4', 'good'))
  t.doesNotThrow(() => limit.checkAddress('5.6.7.8', 'bad'))
  moving.ms = 60_000
  t.doesNotThrow(() => limit.checkAddress('1.2.3.4', 'bad'))
})

t.test('forgets the oldest address when ten thousand others came', async (t) => {
  const { limit } = world()
  for (let count = 0; count < 10; count++) limit.countFailure('first')
  for (let count = 0; count < 9_999; count++) limit.countFailure(`other ${count}`)
  t.throws(() => limit.checkAddress('first', 'bad'), { code: 'throttled' })
  limit.countFailure('one more')
  t.doesNotThrow(() => limit.checkAddress('first', 'bad'))
})
