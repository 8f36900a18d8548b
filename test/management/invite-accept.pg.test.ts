import t, { type Test } from 'tap'
import { openMailer } from '../../src/mail/mailer.ts'
import type { Mail } from '../../src/mail/transport.ts'
import { ids, jsonOf, openWorld, validationError, type World } from '../api/world.ts'
import { silentLog } from '../support/postgres.ts'

const path = `/api/organizations/${ids.ours}/invites/`
const noInvite = {
  status: 404,
  text: JSON.stringify({
    type: 'invalid_request',
    code: 'not_found',
    detail: 'There is no such invite, or it has expired or been accepted.',
    attr: null,
  }),
}

async function openMailWorld(t: Test) {
  const mails: Mail[] = []
  const transport = { deliver: async (mail: Mail) => void mails.push(mail) }
  const mailer = openMailer({ transport, log: silentLog })
  t.teardown(() => mailer.close())
  const world = await openWorld(t, { mailer })
  /** Invites and returns where to accept, with what, as the mail says. */
  const invite = async (body: object, key = 'phx_owner') => {
    mails.length = 0
    const reply = await world.send('POST', path, body, key)
    if (reply.status !== 201) throw new Error(reply.text)
    const { id } = jsonOf(reply)
    const token = /\/join\/#\S+\/(\w+)\n/.exec(mails[0]?.text ?? '')?.[1] ?? ''
    return { id: id as string, token, at: `${path}${id}/accept/` }
  }
  return { world, mails, invite }
}

function members(world: World) {
  return world.postgres
    .query<Record<string, unknown>>(
      `select app_user.email, membership.level from membership join app_user on app_user.id = user_id
       where organization_id = $1 and user_id > 4 order by app_user.id`,
      [ids.ours],
    )
    .then(({ rows }) => rows)
}

t.test('makes an account with a key, a membership and what goes with it', async (t) => {
  const { world, mails, invite } = await openMailWorld(t)
  const access = [
    { id: 1, level: 1 },
    { id: 2, level: 'admin' },
  ]
  const body = {
    target_email: 'Ada@EXAMPLE.com',
    first_name: 'Ada',
    level: 8,
    private_project_access: access,
  }
  const { id, token, at } = await invite(body)
  mails.length = 0
  const reply = await world.send('POST', at, { token, last_name: 'Lovelace' }, 'none')
  t.equal(reply.status, 201)
  const joined = jsonOf(reply)
  t.match(joined, {
    organization: { id: ids.ours, name: 'Ours' },
    user: { email: 'Ada@example.com', first_name: 'Ada', last_name: 'Lovelace', is_email_verified: true },
    level: 8,
    personal_api_key: /^phx_\w{40,}$/,
  })
  const me = joined.user.id
  const { rows } = await world.postgres.query(
    `select current_organization_id, current_project_id,
       (select array_agg(level order by project_id) from project_access where user_id = $1) as access,
       (select array_agg(secure_value) from personal_api_key where user_id = $1) as keys
     from app_user where id = $1`,
    [me],
  )
  t.match(rows, [
    { current_organization_id: ids.ours, current_project_id: 1, access: [1, 8], keys: [/^sha256\$/] },
  ])
  t.same(await members(world), [{ email: 'Ada@example.com', level: 8 }])
  t.equal((await world.get('/api/organizations/@current/', joined.personal_api_key)).status, 200)
  t.equal((await world.get(`/api/organizations/${ids.theirs}/`, joined.personal_api_key)).status, 404)
  t.match(jsonOf(await world.get(path)), { count: 0 })

  t.same(
    mails.map(({ to, subject }) => `${to}: ${subject}`),
    [
      'owner@spate.example: Ada Lovelace joined Ours',
      'administrator@spate.example: Ada Lovelace joined Ours',
      'member@spate.example: Ada Lovelace joined Ours',
    ],
  )
  const activity = (await world.get(`/api/organizations/${ids.ours}/activity/`)).text
  t.match(
    JSON.parse(activity)
      .results.map((one: { activity: string }) => one.activity)
      .sort(),
    ['created', 'joined'],
  )
  t.notMatch(activity, token)
  t.match(await world.send('POST', at, { token }), noInvite, `${id} works once`)
})

t.test('of two who come at once with a token one gets in', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const { token, at } = await invite({ target_email: 'a@example.com' })
  const replies = await Promise.all(Array.from({ length: 4 }, () => world.send('POST', at, { token })))
  t.same(replies.map((reply) => reply.status).sort(), [201, 404, 404, 404])
  t.same(await members(world), [{ email: 'a@example.com', level: 1 }])
})

t.test('an account that exists gets the membership and no key', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const { token, at } = await invite({ target_email: 'Stranger@spate.example' })
  const reply = jsonOf(await world.send('POST', at, { token, first_name: 'Eve' }))
  t.match(reply, { user: { id: 4, email: 'stranger@spate.example', first_name: '' }, personal_api_key: null })
  const { rows } = await world.postgres.query('select id from personal_api_key where user_id = 4')
  t.same(rows, [{ id: 'phx_stranger' }])
  t.equal((await world.get(`/api/organizations/${ids.ours}/`, 'phx_stranger')).status, 200)
})

t.test('does not let in who became a member another way, or was made inactive', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const { token, at } = await invite({ target_email: 'stranger@spate.example' })
  await world.postgres.query('update app_user set is_active = false where id = 4')
  t.equal((await world.send('POST', at, { token })).status, 403)
  await world.postgres.query('update app_user set is_active = true where id = 4')
  await world.postgres.query(
    'insert into membership (id, organization_id, user_id, level) values ($1, $1, 4, 1)',
    [ids.ours],
  )
  const detail = 'A user with this email address already belongs to the organization.'
  t.match(await world.send('POST', at, { token }), validationError('invalid_input', detail, null))
})

t.test('every wrong token, place and time is answered alike, and soon not at all', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const { id, token, at } = await invite({ target_email: 'a@example.com' })
  const hash = (
    await world.postgres.query<{ token_hash: string }>('select token_hash from organization_invite')
  ).rows[0]
  const other = await invite({ target_email: 'b@example.com' })
  const tries: [at: string, token: string][] = [
    [at, 'x'],
    [at, hash?.token_hash ?? ''],
    [at, other.token],
    [at.replace(id, ids.nobodys), token],
    [at.replace(id, 'no-uuid'), token],
    [at.replace(ids.ours, ids.theirs), token],
    [at.replace(ids.ours, '@current'), token],
  ]
  for (const [where, text] of tries) t.match(await world.send('POST', where, { token: text }), noInvite)
  t.match(await world.send('POST', at, {}), { status: 400, text: /"code":"required".*"attr":"token"/ })
  for (let count = 0; count < 3; count++) t.equal((await world.send('POST', at, { token: 'x' })).status, 404)
  const held = await world.send('POST', at, { token })
  t.match(held, { status: 429, text: /"code":"throttled"/ })
  t.match(held.headers.get('retry-after'), /^\d+$/)
  t.same(await members(world), [])
  world.clock.ms += 60_000
  t.equal((await world.send('POST', at, { token })).status, 201)
  t.equal((await world.get(at)).status, 405)
  world.clock.ms += 3 * 86_400_000
  t.match(await world.send('POST', other.at, { token: other.token }), noInvite, 'expired')
})

t.test('tells nobody where the organization does not want that', async (t) => {
  const { world, mails, invite } = await openMailWorld(t)
  await world.send('PATCH', `/api/organizations/${ids.ours}/`, { is_member_join_email_enabled: false })
  const { token, at } = await invite({ target_email: 'a@example.com' })
  mails.length = 0
  t.equal((await world.send('POST', at, { token })).status, 201)
  t.same(mails, [])
})
