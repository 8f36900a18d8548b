// What may happen to an invite, a level or a membership while somebody else is at it.

import t, { type Test } from 'tap'
import { openMailer } from '../../src/mail/mailer.ts'
import type { Mail } from '../../src/mail/transport.ts'
import type { Session } from '../../src/postgres/pool.ts'
import { type Answer, ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { silentLog } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const organization = `/api/organizations/${ids.ours}/`

async function openMailWorld(t: Test) {
  const mails: Mail[] = []
  const transport = { deliver: async (mail: Mail) => void mails.push(mail) }
  const mailer = openMailer({ transport, log: silentLog })
  t.teardown(() => mailer.close())
  const world = await openWorld(t, { mailer })
  /** Invites and returns the invite's path and token. */
  const invite = async (body: object, key = 'phx_owner', place: string = ids.ours) => {
    mails.length = 0
    const reply = await world.send('POST', `/api/organizations/${place}/invites/`, body, key)
    if (reply.status !== 201) throw new Error(reply.text)
    const token = /\/join\/#\S+\/(\w+)\n/.exec(mails[0]?.text ?? '')?.[1] ?? ''
    return { at: `/api/organizations/${place}/invites/${jsonOf(reply).id}/`, token }
  }
  return { world, invite }
}

function accept(world: World, { at, token }: { at: string; token: string }): Promise<Answer> {
  return world.send('POST', `${at}accept/`, { token }, 'none')
}

async function count(world: World, sql: string, params: unknown[] = []): Promise<number> {
  const { rows } = await world.postgres.query<{ count: number }>(`select count(*) from ${sql}`, params)
  return rows[0]?.count ?? -1
}

/** Starts `request` while `change` is done and not committed; it has to wait, and finds what was changed. */
async function during(
  { postgres }: World,
  change: (session: Session) => Promise<unknown>,
  request: () => Promise<Answer>,
): Promise<Answer> {
  let answer: Promise<Answer> | null = null
  await postgres.transaction(async (session) => {
    await change(session)
    answer = request()
    await until(async () => {
      const { rowCount } = await postgres.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rowCount > 0
    })
  })
  return await (answer ?? request())
}

t.test('an invite that is taken back as it is accepted ends one way', async (t) => {
  const { world, invite } = await openMailWorld(t)
  for (let round = 0; round < 8; round++) {
    world.clock.ms += 3_600_000
    const email = `race${round}@example.com`
    const made = await invite({ target_email: email })
    const [accepted, deleted] = await Promise.all([
      accept(world, made),
      world.get(made.at, 'phx_owner', 'DELETE'),
    ])
    const isMember = await count(world, 'app_user where email = $1', [email])
    t.same(
      [accepted.status, deleted.status, isMember],
      accepted.status === 201 ? [201, 404, 1] : [404, 204, 0],
      `round ${round}`,
    )
  }
})

t.test('two invites of a new address, accepted at once, make one account with one key', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const ours = await invite({ target_email: 'new@example.com' })
  const theirs = await invite({ target_email: 'New@EXAMPLE.com' }, 'phx_stranger', ids.theirs)
  const replies = await Promise.all([accept(world, ours), accept(world, theirs)])
  t.same(
    replies.map(({ status }) => status),
    [201, 201],
  )
  const keys = replies.map((reply) => jsonOf(reply).personal_api_key)
  t.equal(keys.filter((key) => key === null).length, 1)
  t.equal(await count(world, `app_user where lower(email) = 'new@example.com'`), 1)
  t.equal(
    await count(
      world,
      `membership join app_user on app_user.id = user_id where lower(email) = 'new@example.com'`,
    ),
    2,
  )
})

t.test('who accepts while the organization is deleted leaves nothing behind', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const made = await invite({ target_email: 'late@example.com' })
  const [accepted, deleted] = await Promise.all([
    accept(world, made),
    world.get(organization, 'phx_owner', 'DELETE'),
  ])
  t.ok([201, 404, 503].includes(accepted.status), `${accepted.status} ${accepted.text}`)
  t.ok([204, 503].includes(deleted.status), `${deleted.status} ${deleted.text}`)
  const again = deleted.status === 204 ? deleted : await world.get(organization, 'phx_owner', 'DELETE')
  t.equal(again.status, 204)
  t.equal(await count(world, 'membership where organization_id = $1', [ids.ours]), 0)
  t.equal(await count(world, 'organization_invite where organization_id = $1', [ids.ours]), 0)
})

t.test('an owner who leaves as another demotes them does not leave the organization to nobody', async (t) => {
  const { world } = await openMailWorld(t)
  await world.postgres.query('update membership set level = 15 where user_id = 2')
  const { rows } = await world.postgres.query<{ uuid: string }>('select uuid from app_user where id = 2')
  const [demoted, left, owner] = await Promise.all([
    world.send('PATCH', `${organization}members/${rows[0]?.uuid}/`, { level: 1 }),
    world.get(`${organization}members/@me/`, 'phx_administrator', 'DELETE'),
    world.get(`${organization}members/@me/`, 'phx_owner', 'DELETE'),
  ])
  t.equal(demoted.status, 200)
  t.ok([204, 400].includes(left.status), left.text)
  t.equal(owner.status, 400)
  t.equal(await count(world, 'membership where organization_id = $1 and level = 15', [ids.ours]), 1)
})

t.test('who is demoted while inviting invites at the new level', async (t) => {
  const { world } = await openMailWorld(t)
  const demote = async (session: Session) => {
    await session.query('select from organization where id = $1 for update', [ids.ours])
    await session.query('update membership set level = 1 where user_id = 2')
  }
  const reply = await during(world, demote, () =>
    world.send(
      'POST',
      `${organization}invites/`,
      { target_email: 'a@example.com', level: 8 },
      'phx_administrator',
    ),
  )
  t.match(reply, { status: 403, text: /higher permission level than your own/ })
  t.equal(await count(world, 'organization_invite'), 0)
})

t.test('who is removed while being let into a private project keeps no level there', async (t) => {
  const { world } = await openMailWorld(t)
  await world.postgres.query('update project set access_control = true where id = 1')
  const { rows } = await world.postgres.query<{ uuid: string }>('select uuid from app_user where id = 1')
  const remove = async (session: Session) => {
    await session.query('select from organization where id = $1 for update', [ids.ours])
    await session.query('delete from membership where user_id = 1')
  }
  const reply = await during(world, remove, () =>
    world.send('POST', '/api/projects/1/explicit_members/', { user_uuid: rows[0]?.uuid }),
  )
  t.match(reply, { status: 403, text: /You both need to belong to the same organization/ })
  t.equal(await count(world, 'project_access'), 0)
})

t.test('an invite ends with the right of whoever made it', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const { rows } = await world.postgres.query<{ uuid: string }>('select uuid from app_user where id = 2')
  const administrator = `${organization}members/${rows[0]?.uuid}/`
  const high = await invite({ target_email: 'high@example.com', level: 8 }, 'phx_administrator')
  const low = await invite({ target_email: 'low@example.com' }, 'phx_administrator')
  const others = await invite({ target_email: 'others@example.com', level: 8 })
  t.equal((await world.send('PATCH', administrator, { level: 1 })).status, 200)
  t.equal((await accept(world, high)).status, 404)
  t.equal(await count(world, 'organization_invite'), 2)
  t.equal((await world.get(administrator, 'phx_owner', 'DELETE')).status, 204)
  t.equal((await accept(world, low)).status, 404)
  t.equal((await accept(world, others)).status, 201)
})

t.test('an invite opens no project that its maker has left since', async (t) => {
  const { world, invite } = await openMailWorld(t)
  const { postgres } = world
  await postgres.query('update project set access_control = true where id in (1, 2)')
  await postgres.query(
    `insert into project_access (project_id, user_id, level, created_at, updated_at)
     values (1, 1, 8, now(), now()), (2, 1, 8, now(), now())`,
  )
  const access = [
    { id: 1, level: 8 },
    { id: 2, level: 8 },
  ]
  const made = await invite({ target_email: 'a@example.com', private_project_access: access }, 'phx_member')
  await postgres.query('delete from project_access where project_id = 1 and user_id = 1')
  t.equal((await accept(world, made)).status, 201)
  const { rows } = await postgres.query('select project_id, level from project_access where user_id > 4')
  t.same(rows, [{ project_id: 2, level: 8 }])
})

t.test('what somebody else combines with an invite takes nothing from it', async (t) => {
  const { world, invite } = await openMailWorld(t)
  await world.postgres.query('update project set access_control = true where id = 1')
  const invited = { target_email: 'a@example.com' }
  await invite({ ...invited, private_project_access: [{ id: 1, level: 'admin' }] })
  const combined = await invite({ ...invited, combine_pending_invites: true }, 'phx_member')
  const listed = jsonOf(await world.get(`${organization}invites/`, 'phx_owner')).results
  t.same(listed[0].private_project_access, [{ id: 1, level: 'admin' }])
  t.equal((await accept(world, combined)).status, 201)
  const { rows } = await world.postgres.query('select project_id, level from project_access')
  t.same(rows, [{ project_id: 1, level: 8 }])
})
