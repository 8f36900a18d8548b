import { pack } from 'msgpackr'
import t from 'tap'
import { decodeCommand, encodeCommand } from '../../src/consumer/command.ts'

t.test('writes and reads the deletion of a project', async (t) => {
  const encoded = encodeCommand({ command: 'delete_project', projectId: 42 })
  t.equal(
    Buffer.from(encoded).toString('latin1'),
    '\xde\x00\x03\xa7version\x01\xa7command\xaedelete_project\xa9projectId\x2a',
  )
  t.strictSame(decodeCommand(encoded), { command: 'delete_project', projectId: 42 })
})

t.test('writes and reads the deletion of a person', async (t) => {
  const deletion = {
    command: 'delete_person',
    projectId: 42,
    personUuid: '6931a681-6e90-500d-8294-14582dcc2e3f',
    deletesEvents: true,
    deletedAtMs: 1_714_564_800_000,
  } as const
  t.strictSame(decodeCommand(encodeCommand(deletion)), deletion)
  t.strictSame(decodeCommand(pack({ version: 1, ...deletion, deletesEvents: false })), {
    ...deletion,
    deletesEvents: false,
  })
})

t.test('does not pass over what it does not know', async (t) => {
  t.throws(() => decodeCommand(pack({ version: 2, command: 'delete_project', projectId: 1 })), /version 2/)
  t.throws(() => decodeCommand(pack({ version: 1, command: 'delete_everything' })), /delete_everything/)
})
