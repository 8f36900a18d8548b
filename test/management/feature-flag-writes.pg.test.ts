import t from 'tap'
import { type Answer, jsonOf, openWorld, type World } from '../api/world.ts'

const path = '/api/projects/1/feature_flags/'

async function create(world: World, flag: object): Promise<{ id: number; version: number; filters: object }> {
  const reply = await world.send('POST', path, flag)
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
  return jsonOf(reply)
}

function refusal(answer: Answer): unknown[] {
  const { code, detail, attr } = jsonOf(answer)
  return [answer.status, code, attr, detail]
}

t.test('flags depend on each other only forwards, and not on what is deleted', async (t) => {
  const world = await openWorld(t)
  const on = (id: number) => ({
    groups: [{ properties: [{ type: 'flag', key: String(id), value: true, operator: 'flag_evaluates_to' }] }],
  })
  const first = await create(world, { key: 'first' })
  const second = await create(world, { key: 'second', filters: on(first.id) })
  const third = await create(world, { key: 'third', filters: on(second.id) })
  const circle = await world.send('PATCH', `${path}${first.id}/`, { filters: on(third.id) })
  t.strictSame(refusal(circle), [
    400,
    'invalid_input',
    'filters',
    'Filters are not valid: flags must not depend on each other in a circle (1 → 3 → 2 → 1).',
  ])
  t.equal((await world.send('PATCH', `${path}${first.id}/`, { filters: on(first.id) })).status, 400)
  t.strictSame(refusal(await world.send('PATCH', `${path}${second.id}/`, { deleted: true })), [
    400,
    'invalid_input',
    'deleted',
    'Cannot delete this feature flag because other flags depend on it: third.',
  ])
  t.equal((await world.send('PATCH', `${path}${third.id}/`, { deleted: true })).status, 200)
  t.equal((await world.send('PATCH', `${path}${second.id}/`, { deleted: true })).status, 200)
  t.equal(
    (await world.send('PATCH', `${path}${third.id}/`, { deleted: false })).status,
    400,
    'what it needs is gone',
  )
})

t.test('writes of one project wait for each other: no circle slips through', async (t) => {
  const world = await openWorld(t)
  const on = (id: number) => ({
    filters: {
      groups: [{ properties: [{ type: 'flag', key: id, value: true, operator: 'flag_evaluates_to' }] }],
    },
  })
  const a = await create(world, { key: 'a' })
  const b = await create(world, { key: 'b' })
  const replies = await Promise.all([
    world.send('PATCH', `${path}${a.id}/`, on(b.id)),
    world.send('PATCH', `${path}${b.id}/`, on(a.id)),
    ...Array.from({ length: 4 }, () => world.send('POST', path, { key: 'same' })),
  ])
  t.same(
    replies
      .map(({ status }) => status)
      .slice(0, 2)
      .sort(),
    [200, 400],
  )
  t.same(
    replies
      .map(({ status }) => status)
      .slice(2)
      .sort(),
    [201, 400, 400, 400],
  )
})
