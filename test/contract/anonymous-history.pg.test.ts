// Whose an event is: anonymous history follows the person. Through HTTP, both stores and the mirror between them.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields } from './requests.ts'

const server = await startServer(t)
const anonymous = { $process_person_profile: false }
const bornTo = { 'user-1': '6931a681-6e90-500d-8294-14582dcc2e3f' }

async function send(...events: Parameters<typeof batch>): Promise<void> {
  const reply = await server.post('/batch/', batch(...events))
  if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`)
  await server.settled()
}

interface Listed {
  readonly event: string
  readonly distinct_id: string
  readonly properties: Fields
  readonly person: { readonly distinct_ids: readonly string[]; readonly properties: Fields } | null
}

async function list(query: Readonly<Record<string, string>>): Promise<Listed[]> {
  const { status, text } = await server.get(`/api/projects/1/events/?${new URLSearchParams(query)}`)
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  // The list's shape.
  return (JSON.parse(text) as { results: Listed[] }).results
}

t.test('what was anonymous belongs to whom $identify names (case 82)', async (t) => {
  await send(event('anon-1', { properties: anonymous }), event('user-1'))
  await send(
    event('user-1', {
      event: '$identify',
      properties: { $anon_distinct_id: 'anon-1', $set: { plan: 'pro' } },
    }),
  )
  t.same((await list({ person_id: bornTo['user-1'] })).map((one) => one.distinct_id).sort(), [
    'anon-1',
    'user-1',
    'user-1',
  ])
})
