import t from 'tap'
import { MemoryDatabase, MemoryPersonsStore } from './memory-persons-store.ts'
import { type PersonsDump, testStore } from './store-contract.ts'

testStore(t, async () => {
  const database = new MemoryDatabase(1, 2)
  // What MemoryStore.dump returns has these fields.
  return {
    open: () => new MemoryPersonsStore(database),
    dump: async () => database.tables.dump() as PersonsDump,
  }
})
