import t from 'tap'
import { spaced } from '../../src/consumer/spaced.ts'
import { until } from '../support/until.ts'

t.test('calls at once, and later once for all that ask meanwhile', async (t) => {
  let calls = 0
  const ask = spaced(() => {
    calls++
  })
  ask()
  t.equal(calls, 1)
  for (let i = 0; i < 100; i++) ask()
  t.equal(calls, 1)
  await until(() => calls > 1)
  t.equal(calls, 2)
})

t.test('what is asked for in a rest is called, and followed by a rest as well', async (t) => {
  let calls = 0
  const ask = spaced(() => {
    if (++calls < 4) ask()
  })
  ask()
  t.equal(calls, 1)
  await until(() => calls === 4)
})
