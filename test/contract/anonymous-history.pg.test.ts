// Whose an event is: anonymous history follows the person. Through HTTP, both stores and the mirror between them.

import t from 'tap'
import { bornIdOf } from '../../src/identity/born-id.ts'
import { rowsOf } from '../support/cluster.ts'
import { startServer } from '../support/server.ts'
import { batch, event, type Fields } from './requests.ts'

const server = await startServer(t)
const anonymous = { $process_person_profile: false }

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

/** Distinct_ids of the events that belong to the person born of `distinctId`, in the order in which they came. */
async function ownedBy(distinctId: string): Promise<string[]> {
  const owned = await list({ person_id: bornIdOf(1, distinctId) })
  return owned.map((one) => one.distinct_id).reverse()
}

const identify = (anon: string, more: Fields = {}): Fields => ({
  event: '$identify',
  properties: { $anon_distinct_id: anon, ...more },
})

t.test('an anonymous event has no person, and can be found by the id it was born to (case 81)', async (t) => {
  await send(event('p81', { properties: { ...anonymous, $set: { a: 1 } } }))
  t.same(await ownedBy('p81'), ['p81'])
  t.equal((await list({ distinct_id: 'p81' }))[0]?.person, null)
})

t.test('every event of both ids shows the person of who identified (cases 72, 82)', async (t) => {
  await send(event('p82-anon', { properties: anonymous }), event('p82-anon', { properties: anonymous }))
  await send(event('p82', identify('p82-anon', { $set: { plan: 'pro' } })), event('p82-anon'))
  t.same(await ownedBy('p82'), ['p82-anon', 'p82-anon', 'p82', 'p82-anon'])
  t.same(await ownedBy('p82-anon'), [])
  for (const one of [...(await list({ distinct_id: 'p82-anon' })), ...(await list({ distinct_id: 'p82' }))]) {
    t.same(one.person?.distinct_ids, ['p82', 'p82-anon'])
    t.equal(one.person?.properties.plan, 'pro')
  }
})

t.test('an anonymous event of a known person shows it, and does not change it (case 83)', async (t) => {
  await send(event('p83', { properties: { $set: { plan: 'free' } } }))
  await send(event('p83', { event: 'quiet', properties: { ...anonymous, $set: { plan: 'pro' } } }))
  t.same(await ownedBy('p83'), ['p83', 'p83'])
  const [quiet] = await list({ event: 'quiet' })
  t.equal(quiet?.person?.properties.plan, 'free')
  t.same(quiet?.properties.$process_person_profile, false)
})

t.test('an id that is attached to a person brings its events (case 73)', async (t) => {
  await send(event('p73-anon'))
  await send(event('p73', identify('p73-anon')), event('p73'))
  t.same(await ownedBy('p73-anon'), ['p73-anon', 'p73', 'p73'])
  t.same(await ownedBy('p73'), [])
})

t.test('when two persons become one, the events of both are its (cases 74, 75)', async (t) => {
  await send(event('p74-anon'), event('p74'))
  await send(event('p74', identify('p74-anon')), event('p74', identify('p74-anon')))
  t.same(await ownedBy('p74'), ['p74-anon', 'p74', 'p74', 'p74'])
  t.same(await ownedBy('p74-anon'), [])
})

t.test('a person that is merged twice takes along what it took over', async (t) => {
  const merge = (into: string, alias: string) =>
    event(into, { event: '$merge_dangerously', properties: { alias } })
  await send(event('m1'), event('m2'), event('m3'))
  await send(merge('m2', 'm1'))
  await send(merge('m3', 'm2'))
  t.same(await ownedBy('m3'), ['m1', 'm2', 'm3', 'm2', 'm3'])
  t.same([await ownedBy('m1'), await ownedBy('m2')], [[], []])
})

t.test('ids that may not be merged keep their events apart (cases 76, 77, 79)', async (t) => {
  await send(event('p77', identify('undefined')), event('p77', identify('p77')))
  await send(event('false', { event: '$create_alias', properties: { alias: 'p77' } }))
  t.same(await ownedBy('p77'), ['p77', 'p77'])
  t.same(await ownedBy('false'), ['false'])
})

t.test('after $create_alias the alias is who both are (case 80)', async (t) => {
  await send(event('p80'), event('p80', { event: '$create_alias', properties: { alias: 'p80-main' } }))
  await send(event('p80-main'))
  t.same(await ownedBy('p80'), ['p80', 'p80', 'p80-main'])
})

t.test('an $identify that must not process persons is dropped and joins nothing (case 84)', async (t) => {
  await send(event('p84-anon'), event('p84', identify('p84-anon', anonymous)))
  t.same(await ownedBy('p84-anon'), ['p84-anon'])
  t.same(await list({ distinct_id: 'p84' }), [])
})

t.test(
  'events carry $group_N for the groups they name, from before and after (cases 87, 88, 91)',
  async (t) => {
    const ofGroups = ($groups: unknown, more: Fields = {}) =>
      event('p87', { properties: { $groups, ...more } })
    await send(ofGroups({ company: 'acme' }), ofGroups({ company: 'acme', project: 7 }))
    await send(ofGroups({ company: 'acme' }, anonymous), ofGroups(['company']), ofGroups({ project: 'x' }))
    t.same(
      (await list({ distinct_id: 'p87' })).map(({ properties: { $group_0, $group_1, $groups } }) => ({
        $group_0,
        $group_1,
        $groups,
      })),
      [
        { $group_0: 'acme', $group_1: undefined, $groups: { company: 'acme' } },
        { $group_0: 'acme', $group_1: 7, $groups: { company: 'acme', project: 7 } },
        { $group_0: undefined, $group_1: undefined, $groups: { company: 'acme' } },
        { $group_0: undefined, $group_1: undefined, $groups: ['company'] },
        { $group_0: undefined, $group_1: 'x', $groups: { project: 'x' } },
      ].reverse(),
    )
    const ofAcme = JSON.stringify([{ key: '$group_0', value: 'acme', type: 'event' }])
    t.equal((await list({ properties: ofAcme })).length, 2, 'and are found by it')
    t.same(await rowsOf(server.databaseUrl, 'select * from project_group'), [], 'no group was made')
  },
)

t.test('events of a person deleted with them are gone; of one deleted alone they have none', async (t) => {
  await send(event('gone-anon', { properties: anonymous }), event('gone', identify('gone-anon')))
  await send(event('left-anon', { properties: anonymous }), event('left', identify('left-anon')))
  const remove = (id: string, query: string) =>
    fetch(`${server.url}/api/projects/1/persons/${bornIdOf(1, id)}/${query}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${server.personalApiKey}` },
    })
  t.equal((await remove('gone', '?delete_events=true')).status, 204)
  t.equal((await remove('left', '')).status, 204)
  await server.settled()
  t.same([await list({ distinct_id: 'gone' }), await list({ distinct_id: 'gone-anon' })], [[], []])
  t.same([await ownedBy('left'), await ownedBy('left-anon')], [['left'], ['left-anon']])
  t.equal((await list({ distinct_id: 'left' }))[0]?.person, null)
})
