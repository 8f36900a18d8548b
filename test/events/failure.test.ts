import { readFileSync } from 'node:fs'
import t from 'tap'
import { failureOf, shortMessage } from '../../src/events/failure.ts'

t.test('tells by its message what an error of DuckDB means', async (t) => {
  const kind = (message: string) => failureOf(new Error(message))
  t.equal(kind("Conversion Error: Could not convert string 'x' to INT32\n\nLINE 1: …"), 'poison')
  t.equal(kind('Constraint Error: NOT NULL constraint failed: event.uuid'), 'poison')
  t.equal(kind('Out of Memory Error: failed to allocate data of size 16.0 MiB'), 'transient')
  t.equal(kind('IO Error: Could not write to file'), 'transient')
  t.equal(kind('INTERRUPT Error: Interrupted!'), 'transient')
  t.equal(kind('FATAL Error: Failed to create checkpoint because of error: No space left'), 'fatal')
  t.equal(kind('INTERNAL Error: Attempted to access index 5 within vector of size 5'), 'fatal')
  t.equal(
    kind('TransactionContext Error: the database has been invalidated because of a fatal error'),
    'fatal',
  )
  t.equal(kind('assertion failed: event batch version 9 is known'), 'bug')
  t.equal(failureOf('a string'), 'bug')
})

t.test('takes an error of the file system for a passing one', async (t) => {
  try {
    readFileSync('/no/such/file')
  } catch (error) {
    t.equal(failureOf(error), 'transient')
  }
})

t.test('shortens messages to one line', async (t) => {
  t.equal(shortMessage(new Error('first\nsecond')), 'first')
  t.equal(shortMessage(new Error('abcdef'), 3), 'abc…')
})
