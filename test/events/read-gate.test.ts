import t from 'tap'
import { isServiceError } from '../../src/errors.ts'
import { ReadGate } from '../../src/events/read-gate.ts'

/** A read that ends when it is told to. */
function held() {
  let finish = () => {}
  const read = () => new Promise<string>((resolve) => (finish = () => resolve('done')))
  return { read, finish: () => finish() }
}

t.test('runs a few reads, keeps a few waiting, refuses the rest', async (t) => {
  const gate = new ReadGate(2, 1)
  const reads = [held(), held(), held()]
  const [first, second, third] = reads.map(({ read }) => gate.run(read))

  const refused = await gate.run(async () => 'never').catch((error: unknown) => error)
  t.ok(isServiceError(refused, 'reads_overloaded'))

  reads[0]?.finish()
  t.equal(await first, 'done')
  const fourth = gate.run(async () => 'waited')
  reads[1]?.finish()
  reads[2]?.finish()
  t.strictSame(await Promise.all([second, third, fourth]), ['done', 'done', 'waited'])
})

t.test('gives the place on when a read fails', async (t) => {
  const gate = new ReadGate(1, 1)
  const failing = gate.run(async () => {
    throw new Error('broken')
  })
  const next = gate.run(async () => 'next')
  await t.rejects(failing, /broken/)
  t.equal(await next, 'next')
})
