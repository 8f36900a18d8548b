// Invites over HTTP, answer by answer: status and body as a client gets them.

import t from 'tap'
import { ids, jsonOf, openWorld } from '../api/world.ts'
import { askerOf, denied, forbidden, insufficient, invalid, notFound, userOf } from './answers.ts'

const world = await openWorld(t)
const { get, send, remove } = askerOf(world)
const list = `/api/organizations/${ids.ours}/invites/`
const now = '2024-05-01T12:00:00Z'
const { rows: owners } = await world.postgres.query<{ uuid: string }>(
  'select uuid from app_user where id = 3',
)
const owner = userOf(3, 'owner', owners[0]?.uuid ?? '')
const tooHigh = denied('You cannot invite a user with a higher permission level than your own.')

interface Listed {
  readonly count: number
  readonly results: readonly { readonly id: string; readonly target_email: string }[]
}

const listed = async (): Promise<Listed> => jsonOf(await world.get(list))
const emailsNow = async () => (await listed()).results.map((one) => one.target_email)
const clear = () => world.postgres.query('delete from organization_invite')

t.test('an address is all that is wanted', async (t) => {
  t.strictSame(await send('POST', list, {}), invalid('required', 'This field is required.', 'target_email'))
  const [status, body] = await send('POST', list, { target_email: 'x@x.com' })
  const { id } = body as { id: string } // an invite
  const made = {
    id,
    target_email: 'x@x.com',
    first_name: '',
    emailing_attempt_made: false,
    level: 1,
    is_expired: false,
    created_by: owner,
    created_at: now,
    updated_at: now,
    message: null,
    private_project_access: [],
    send_email: true,
    combine_pending_invites: false,
  }
  t.strictSame([status, body], [201, made])
  t.strictSame(await get(list), [200, { count: 1, next: null, previous: null, results: [made] }])
  const quiet = await send('POST', list, { target_email: 'x@x.com', send_email: false })
  t.strictSame(quiet, [201, { ...made, id: (quiet[1] as { id: string }).id, send_email: false }])
})

t.test('the last invite of an address is the only one', async (t) => {
  await clear()
  const seen = []
  for (const first_name of ['a', 'b', 'c']) {
    const [status, body] = await send('POST', list, { target_email: 'x@x.com', first_name })
    t.equal(status, 201)
    seen.push((body as { id: string }).id) // an invite
  }
  t.strictSame(
    (await listed()).results.map(({ id }) => id),
    [seen[2]],
  )
})

t.test('the domain of an address is kept in lower case', async (t) => {
  await clear()
  t.equal((await send('POST', list, { target_email: 'User@EXAMPLE.com' }))[0], 201)
  t.strictSame(await emailsNow(), ['User@example.com'])
})

t.test('nobody gives more than they have', async (t) => {
  await clear()
  t.strictSame(await send('POST', list, { target_email: 'a@x.com', level: 8 }, 'phx_member'), tooHigh)
  t.strictSame(await send('POST', list, { target_email: 'a@x.com', level: 15 }, 'phx_administrator'), tooHigh)
  const bulk = [{ target_email: 'a@x.com' }, { target_email: 'b@x.com', level: 15 }]
  t.strictSame(await send('POST', `${list}bulk/`, bulk, 'phx_administrator'), tooHigh)
  t.strictSame(await emailsNow(), [])
})

t.test('refuses other organizations, their projects, and who is a member already', async (t) => {
  const theirs = `/api/organizations/${ids.theirs}/invites/`
  t.strictSame(await send('POST', theirs, { target_email: 'a@x.com' }), forbidden)
  t.strictSame(
    await send('POST', list, {
      target_email: 'a@x.com',
      private_project_access: [{ id: ids.theirProject, level: 1 }],
    }),
    invalid(
      'invalid_input',
      'Project does not exist on this organization, or it is private and you do not have access to it.',
      'private_project_access',
    ),
  )
  t.strictSame(
    await send('POST', list, { target_email: 'member@spate.example' }),
    invalid('invalid_input', 'A user with this email address already belongs to the organization.', null),
  )
  t.strictSame(await emailsNow(), [])
})

t.test('up to twenty at once, in their order, all or none', async (t) => {
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ target_email: `p${index}@x.com` }))
  const bulk = (body: unknown) => send('POST', `${list}bulk/`, body)
  t.strictSame(
    await bulk(people(21)),
    invalid('max_length', 'A maximum of 20 invites can be sent in a single request.', null),
  )
  t.strictSame(
    await bulk({ target_email: 'a@x.com' }),
    invalid('invalid_input', 'This endpoint needs an array of data for bulk invite creation.', null),
  )
  t.strictSame(await emailsNow(), [])
  t.strictSame(await bulk(people(7)), [200, ''])
  t.strictSame(await emailsNow(), [
    'p6@x.com',
    'p5@x.com',
    'p4@x.com',
    'p3@x.com',
    'p2@x.com',
    'p1@x.com',
    'p0@x.com',
  ])
})

t.test('administrators take invites back', async (t) => {
  const [first, second] = (await listed()).results
  t.strictSame(await remove(`${list}${first?.id}/`, 'phx_member'), insufficient)
  t.strictSame(await remove(`${list}${first?.id}/`, 'phx_administrator'), [204, ''])
  t.strictSame(await remove(`${list}${first?.id}/`), notFound)
  t.strictSame(await remove(`${list}${second?.id}/`), [204, ''])
  t.equal((await listed()).count, 5)
})

t.test('after three days an invite is expired, and still in the list', async (t) => {
  const before = await listed()
  world.clock.ms += 3 * 86_400_000 + 1
  t.strictSame(await get(list), [
    200,
    { ...before, results: before.results.map((one) => ({ ...one, is_expired: true })) },
  ])
})
