import t from 'tap'
import { decodeCommand } from '../../src/consumer/command.ts'
import { ServiceError } from '../../src/errors.ts'
import type { Lane, Position } from '../../src/journal/journal.ts'
import { openCommands } from '../../src/management/commands.ts'
import { MemoryJournal } from '../journal/memory-journal.ts'

const deletion = { command: 'delete_project', projectId: 7 } as const

function openWorld(appliedMsMax: number) {
  const journal = new MemoryJournal()
  const waits: { lane: Lane; position: Position; settle: (error?: Error) => void }[] = []
  const persons = {
    waitUntilApplied: (lane: Lane, position: Position) =>
      new Promise<void>((resolve, reject) => {
        waits.push({ lane, position, settle: (error) => (error ? reject(error) : resolve()) })
      }),
  }
  const mirror = {
    isAsked: false,
    settle: () => {},
    waitUntilMirrored() {
      mirror.isAsked = true
      return new Promise<void>((resolve) => {
        mirror.settle = resolve
      })
    },
  }
  return { journal, waits, mirror, commands: openCommands({ journal, persons, mirror, appliedMsMax }) }
}

t.test('a command is on disk first, then waited for at its end, then in the events store', async (t) => {
  const { journal, waits, mirror, commands } = openWorld(1_000_000)
  const done = commands.carryOut(deletion)
  await new Promise(setImmediate)
  const { committed } = journal.state().lanes.realtime
  const [record] = journal.reader().read('realtime', 0 as Position, committed, 1).records // a journal's start
  t.equal(record?.kind, 'command')
  t.same(decodeCommand(record?.payload ?? new Uint8Array()), deletion)
  t.match(waits, [{ lane: 'realtime', position: committed }])
  t.equal(mirror.isAsked, false)
  waits[0]?.settle()
  await new Promise(setImmediate)
  t.equal(mirror.isAsked, true)
  mirror.settle()
  await t.resolves(done)
})

t.test('what takes too long, or waits for the next start, is not waited for', async (t) => {
  const slow = openWorld(1)
  await t.resolves(slow.commands.carryOut(deletion))
  const stopping = openWorld(1_000_000)
  const done = stopping.commands.carryOut(deletion)
  await new Promise(setImmediate)
  stopping.waits[0]?.settle(new ServiceError('stopping'))
  await t.resolves(done)
})

t.test('a command that is not on disk is an error', async (t) => {
  const append = () => Promise.reject(new ServiceError('journal_full'))
  const persons = { waitUntilApplied: () => Promise.resolve() }
  const mirror = { waitUntilMirrored: () => Promise.resolve() }
  await t.rejects(openCommands({ journal: { append }, persons, mirror }).carryOut(deletion), {
    code: 'journal_full',
  })
})
