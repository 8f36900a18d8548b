import t from 'tap'
import { RateLimit } from '../../src/api/rate-limit.ts'

/** The key `name` of a user of its own, who is called the same. */
function count(limit: RateLimit, name: string, allowance?: 'definitions'): void {
  limit.countKey(`hash of ${name}`, { keyId: name, userId: name.codePointAt(0) ?? 0 }, allowance)
}

function world() {
  const moving = { ms: 0 }
  const limit = new RateLimit({ nowMs: () => 0, monotonicMs: () => moving.ms })
  return { moving, limit }
}

t.test('lets a key ask 480 times a minute', async (t) => {
  const { limit, moving } = world()
  for (let times = 0; times < 480; times++) count(limit, 'a')
  moving.ms = 18_500
  t.throws(() => count(limit, 'a'), {
    code: 'throttled',
    detail: 'Request was throttled. Expected available in 42 seconds.',
    retryAfterSeconds: 42,
  })
  t.doesNotThrow(() => count(limit, 'b'))
  moving.ms = 60_000
  t.doesNotThrow(() => count(limit, 'a'))
})

t.test('lets a key ask 4,800 times an hour', async (t) => {
  const { limit, moving } = world()
  for (let minute = 0; minute < 10; minute++) {
    moving.ms = minute * 60_000
    for (let times = 0; times < 480; times++) count(limit, 'a')
  }
  moving.ms = 3_599_000
  t.throws(() => count(limit, 'a'), { code: 'throttled', retryAfterSeconds: 1 })
  moving.ms = 3_600_000
  t.doesNotThrow(() => count(limit, 'a'))
})

t.test('lets a key ask for definitions 600 times a minute, whatever else it asks for', async (t) => {
  const { limit, moving } = world()
  for (let times = 0; times < 480; times++) count(limit, 'a')
  for (let times = 0; times < 600; times++) count(limit, 'a', 'definitions')
  t.throws(() => count(limit, 'a', 'definitions'), { code: 'throttled', retryAfterSeconds: 60 })
  for (let times = 0; times < 10; times++) limit.countFailure('1.2.3.4')
  t.doesNotThrow(() => limit.checkAddress('1.2.3.4', 'hash of a'))
  for (let minute = 1; minute <= 10; minute++) {
    moving.ms = minute * 60_000
    for (let times = 0; times < 600; times++) count(limit, 'a', 'definitions')
  }
  t.throws(() => count(limit, 'a', 'definitions'), { code: 'throttled' })
})

t.test('holds off an address after ten wrong keys, but not a key that was right of late', async (t) => {
  const { limit, moving } = world()
  count(limit, 'good')
  for (let times = 0; times < 10; times++) {
    limit.checkAddress('1.2.3.4', 'bad')
    limit.countFailure('1.2.3.4')
  }
  t.throws(() => limit.checkAddress('1.2.3.4', 'bad'), { code: 'throttled', retryAfterSeconds: 60 })
  t.doesNotThrow(() => limit.checkAddress('1.2.3.4', 'hash of good'))
  t.doesNotThrow(() => limit.checkAddress('5.6.7.8', 'bad'))
  moving.ms = 60_000
  t.doesNotThrow(() => limit.checkAddress('1.2.3.4', 'bad'))
})

t.test('forgets the oldest address when ten thousand others came', async (t) => {
  const { limit } = world()
  for (let times = 0; times < 10; times++) limit.countFailure('first')
  for (let times = 0; times < 9_999; times++) limit.countFailure(`other ${times}`)
  t.throws(() => limit.checkAddress('first', 'bad'), { code: 'throttled' })
  limit.countFailure('one more')
  t.doesNotThrow(() => limit.checkAddress('first', 'bad'))
})

t.test('a key that is given another value has no fresh allowance', async (t) => {
  const { limit } = world()
  const key = { keyId: 'a', userId: 1 }
  for (let times = 0; times < 480; times++) limit.countKey('old value', key)
  t.throws(() => limit.countKey('new value', key), { code: 'throttled', retryAfterSeconds: 60 })
})

t.test('all keys of a user together may ask ten times as often as one', async (t) => {
  const { limit } = world()
  for (let keys = 0; keys < 10; keys++) {
    for (let times = 0; times < 480; times++) limit.countKey('x', { keyId: `key ${keys}`, userId: 1 })
  }
  t.throws(() => limit.countKey('x', { keyId: 'one more', userId: 1 }), { code: 'throttled' })
  t.doesNotThrow(() => limit.countKey('x', { keyId: 'of somebody else', userId: 2 }))
})

t.test('an IPv6 host that takes another address for each guess is one address', async (t) => {
  const { limit } = world()
  for (let times = 0; times < 10; times++) limit.countFailure(`2001:db8:0:7::${times}`)
  t.throws(() => limit.checkAddress('2001:db8:0:7:ffff::1', 'bad'), { code: 'throttled' })
  t.doesNotThrow(() => limit.checkAddress('2001:db8:0:8::1', 'bad'))
})
