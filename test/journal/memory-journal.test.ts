import t from 'tap'
import { journalContract } from './journal-contract.ts'
import { MemoryJournal } from './memory-journal.ts'

journalContract(t, 'memory journal', async (_, limits) => {
  const journal = new MemoryJournal(limits)
  return { journal, reader: () => journal.reader() }
})
