import t from 'tap'
import { mappedFirst } from '../../src/capture/event-keys.ts'
import { addKey, addKeys, createKeySet, holdsKey, shareKeys } from '../../src/capture/key-set.ts'

const every = Array.from({ length: mappedFirst + 1 }, (_, key) => key)

t.test('holds the keys that were added and no others', async (t) => {
  for (const key of every) {
    const set = createKeySet([key, 7])
    t.same(
      every.filter((one) => holdsKey(set, one)),
      [...new Set([key, 7])].sort((a, b) => a - b),
    )
  }
  const set = createKeySet()
  addKey(set, 31)
  addKeys(set, createKeySet([32, 0]))
  t.same(
    every.filter((key) => holdsKey(set, key)),
    [0, 31, 32],
  )
})

t.test('shares keys with a set that holds one of them', async (t) => {
  for (const key of every) {
    t.equal(shareKeys(createKeySet([key]), createKeySet(every)), true)
    t.equal(shareKeys(createKeySet([key]), createKeySet(every.filter((one) => one !== key))), false)
  }
})
