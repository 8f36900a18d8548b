import t from 'tap'
import { releaseAll } from '../src/release-all.ts'

t.test('releases in reverse, and goes on behind one that fails', async (t) => {
  const released: string[] = []
  const releasers = ['first', 'second', 'third'].map((name) => async () => {
    released.push(name)
    if (name !== 'first') throw new Error(name)
  })
  await t.rejects(releaseAll(releasers), { message: 'third' })
  t.same(released, ['third', 'second', 'first'])
  await releaseAll(releasers)
  t.equal(released.length, 3)
})
