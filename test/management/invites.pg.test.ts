import { once } from 'node:events'
import { request } from 'node:http'
import t, { type Test } from 'tap'
import { openMailer } from '../../src/mail/mailer.ts'
import type { Mail } from '../../src/mail/transport.ts'
import { addKey, ids, jsonOf, openWorld, validationError, type World } from '../api/world.ts'
import { silentLog } from '../support/postgres.ts'

const path = `/api/organizations/${ids.ours}/invites/`
const theirs = `/api/organizations/${ids.theirs}/invites/`
const tooHigh = {
  status: 403,
  text: /"detail":"You cannot invite a user with a higher permission level than your own\."/,
}
const noProject =
  'Project does not exist on this organization, or it is private and you do not have access to it.'

async function stored(world: World) {
  const { rows } = await world.postgres.query<Record<string, unknown>>(
    'select * from organization_invite order by created_at, id',
  )
  return rows
}

async function openMailWorld(t: Test): Promise<{ world: World; mails: Mail[] }> {
  const mails: Mail[] = []
  const transport = { deliver: async (mail: Mail) => void mails.push(mail) }
  const mailer = openMailer({ transport, log: silentLog })
  t.teardown(() => mailer.close())
  return { world: await openWorld(t, { mailer }), mails }
}

t.test('invites somebody with what the API fills in', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', path, {
    target_email: ' User.Name@EXAMPLE.com ',
    id: ids.nobodys,
    emailing_attempt_made: true,
    created_by: null,
    organization_id: ids.theirs,
  })
  t.equal(reply.status, 201)
  const { created_by, ...made } = jsonOf(reply)
  t.strictSame(made, {
    id: made.id,
    target_email: 'User.Name@example.com',
    first_name: '',
    emailing_attempt_made: false,
    level: 1,
    is_expired: false,
    created_at: '2024-05-01T12:00:00Z',
    updated_at: '2024-05-01T12:00:00Z',
    message: null,
    private_project_access: [],
    send_email: true,
    combine_pending_invites: false,
  })
  t.match(created_by, { id: 3, email: 'owner@spate.example', is_email_verified: null })
  t.match(await stored(world), [
    { id: made.id, organization_id: ids.ours, token_hash: /^sha256\$[0-9a-f]{64}$/ },
  ])
  t.match(jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/`)).results, [
    { activity: 'created', scope: 'OrganizationInvite', item_id: made.id },
  ])
})

t.test('refuses what is not valid, and makes nothing', async (t) => {
  const world = await openWorld(t)
  const target_email = 'a@example.com'
  const cases: [body: unknown, code: string, attr: string | null][] = [
    [{}, 'required', 'target_email'],
    [{ target_email: '' }, 'blank', 'target_email'],
    [{ target_email: 'nobody' }, 'invalid_input', 'target_email'],
    [{ target_email: 'a@b.c\nBcc: x@y.zz' }, 'invalid_input', 'target_email'],
    [{ target_email: `${'a'.repeat(250)}@b.example` }, 'max_length', 'target_email'],
    [{ target_email, first_name: 'x'.repeat(31) }, 'max_length', 'first_name'],
    [{ target_email, level: 5 }, 'invalid_choice', 'level'],
    [{ target_email, level: null }, 'null', 'level'],
    [{ target_email, message: 'x'.repeat(10_001) }, 'max_length', 'message'],
    [{ target_email, send_email: 'perhaps' }, 'invalid_input', 'send_email'],
    [{ target_email, private_project_access: {} }, 'not_a_list', 'private_project_access'],
    [{ target_email, private_project_access: [{}] }, 'required', 'private_project_access__0__id'],
    [
      { target_email, private_project_access: [{ id: 1, level: 3 }] },
      'invalid_choice',
      'private_project_access__0__level',
    ],
    [[{ target_email }], 'invalid_input', null],
  ]
  for (const [body, code, attr] of cases) {
    const reply = await world.send('POST', path, body)
    t.equal(reply.status, 400)
    t.match(jsonOf(reply), { code, attr })
  }
  for (const target_email of ['member@spate.example', 'MEMBER@SPATE.example']) {
    const detail = 'A user with this email address already belongs to the organization.'
    t.match(await world.send('POST', path, { target_email }), validationError('invalid_input', detail, null))
  }
  t.same(await stored(world), [])
  t.equal((await world.send('POST', path, { target_email: 'stranger@spate.example' })).status, 201)
})

t.test('nobody gives more than they have', async (t) => {
  const world = await openWorld(t)
  const invite = (key: string, level: number) =>
    world.send('POST', path, { target_email: 'a@example.com', level }, key)
  t.match(await invite('phx_member', 8), tooHigh)
  t.match(await invite('phx_administrator', 15), tooHigh)
  t.same(await stored(world), [])
  t.match(jsonOf(await invite('phx_member', 1)), { level: 1 })
  t.match(jsonOf(await invite('phx_administrator', 8)), { level: 8 })
  t.match(jsonOf(await invite('phx_owner', 15)), { level: 15 })
})

t.test('a later invite of an address takes the place of the older ones', async (t) => {
  const world = await openWorld(t)
  const seen = new Set<string>()
  for (const target_email of ['x@example.com', 'X@example.com', 'x@EXAMPLE.com']) {
    world.clock.ms += 5 * 86_400_000
    seen.add(jsonOf(await world.send('POST', path, { target_email })).id)
  }
  t.equal(seen.size, 3)
  t.match(await stored(world), [{ target_email: 'x@example.com' }])
  await world.send('POST', theirs, { target_email: 'x@example.com' }, 'phx_stranger')
  t.equal((await stored(world)).length, 2)
})

t.test('combines with what is pending, when asked', async (t) => {
  const world = await openWorld(t)
  const target_email = 'x@example.com'
  const first = [
    { id: 1, level: 8 },
    { id: 2, level: 'member' },
  ]
  await world.send('POST', path, { target_email, level: 8, private_project_access: first })
  const combined = await world.send('POST', path, {
    target_email,
    combine_pending_invites: true,
    private_project_access: [
      { id: 1, level: 1 },
      { id: 2, level: 'admin' },
    ],
  })
  t.match(jsonOf(combined), {
    level: 8,
    combine_pending_invites: true,
    private_project_access: [
      { id: 1, level: 8 },
      { id: 2, level: 'admin' },
    ],
  })
  world.clock.ms += 3 * 86_400_000
  const later = await world.send('POST', path, { target_email, combine_pending_invites: true })
  t.match(jsonOf(later), { level: 1, private_project_access: [] })
  t.equal((await stored(world)).length, 1)
})

t.test('opens projects of the organization only, and no further than the inviter may go', async (t) => {
  const world = await openWorld(t)
  const invite = (private_project_access: unknown, key = 'phx_owner') =>
    world.send('POST', path, { target_email: 'a@example.com', private_project_access }, key)
  for (const id of [ids.theirProject, 99, -1, Number.MAX_SAFE_INTEGER]) {
    t.match(
      await invite([{ id, level: 1 }]),
      validationError('invalid_input', noProject, 'private_project_access'),
    )
  }
  const detail = 'You cannot invite to a private project with a higher level than your own.'
  const higher = validationError('invalid_input', detail, 'private_project_access')
  t.match(await invite([{ id: 1, level: 8 }], 'phx_member'), higher)
  t.equal((await invite([{ id: 1, level: 1 }], 'phx_member')).status, 201)
  await world.postgres.query('update project set access_control = true where id = 1')
  t.match(
    await invite([{ id: 1, level: 1 }], 'phx_member'),
    validationError('invalid_input', noProject, 'private_project_access'),
  )
  await world.postgres.query('insert into project_access values (1, 1, 8, now())')
  t.equal((await invite([{ id: 1, level: 8 }], 'phx_member')).status, 201)
  t.match(jsonOf(await invite([])), { private_project_access: null })
  t.match(jsonOf(await invite(null)), { private_project_access: null })
})

t.test('lists invites newest first, expired ones too', async (t) => {
  const world = await openWorld(t)
  await world.send('POST', path, { target_email: 'a@example.com' })
  world.clock.ms += 3 * 86_400_000 - 1
  await world.send('POST', path, { target_email: 'b@example.com' })
  t.match(jsonOf(await world.get(path)).results, [
    { target_email: 'b@example.com', is_expired: false },
    { target_email: 'a@example.com', is_expired: false },
  ])
  world.clock.ms += 1
  t.match(jsonOf(await world.get(`${path}?limit=1&offset=1`)), {
    count: 2,
    next: null,
    previous: `https://spate.example${path}?limit=1`,
    results: [{ target_email: 'a@example.com', is_expired: true }],
  })
  await world.postgres.query('delete from app_user where id = 3')
  t.match(jsonOf(await world.get(path)).results, [{ created_by: null }, { created_by: null }])
})

t.test('makes many at once in their order, or none', async (t) => {
  const world = await openWorld(t)
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ target_email: `p${index}@example.com` }))
  t.match(await world.send('POST', `${path}bulk/`, people(7)), { status: 200, text: '' })
  t.same(
    (await stored(world)).map((row) => row.target_email),
    people(7).map((one) => one.target_email),
  )
  t.equal((await world.send('POST', `${path}bulk/`, people(20))).status, 200)
  t.equal((await stored(world)).length, 20)

  const refused: [body: unknown, answer: object][] = [
    [
      people(21),
      validationError('max_length', 'A maximum of 20 invites can be sent in a single request.', null),
    ],
    [
      {},
      validationError(
        'invalid_input',
        'This endpoint needs an array of data for bulk invite creation.',
        null,
      ),
    ],
    [
      [{ target_email: 'new@example.com' }, {}],
      { status: 400, text: /"code":"required".*"attr":"1__target_email"/ },
    ],
    [[{ target_email: 'new@example.com' }, { target_email: 'member@spate.example' }], { status: 400 }],
  ]
  for (const [body, answer] of refused) t.match(await world.send('POST', `${path}bulk`, body), answer)
  const mixed = [{ target_email: 'new@example.com' }, { target_email: 'newer@example.com', level: 15 }]
  t.match(await world.send('POST', `${path}bulk`, mixed, 'phx_administrator'), tooHigh)
  t.equal((await stored(world)).length, 20)
  t.equal((await world.send('POST', `${path}bulk`, [])).status, 200)
})

t.test('an invite is taken back by administrators', async (t) => {
  const world = await openWorld(t)
  const { id } = jsonOf(await world.send('POST', path, { target_email: 'a@example.com' }))
  t.match(await world.send('DELETE', path + id, '', 'phx_member'), {
    status: 403,
    text: /access level is insufficient/,
  })
  t.equal((await world.send('DELETE', theirs + id, '', 'phx_stranger')).status, 404)
  t.equal((await stored(world)).length, 1)
  t.match(await world.send('DELETE', path + id, '', 'phx_administrator'), { status: 204, text: '' })
  t.same(await stored(world), [])
  t.equal((await world.send('DELETE', path + id, '')).status, 404)
  t.equal((await world.send('DELETE', `${path}no-uuid`, '')).status, 404)
})

t.test('others see and make nothing, nor do keys without the scope', async (t) => {
  const world = await openWorld(t)
  await world.send('POST', path, { target_email: 'a@example.com' })
  const forbidden = { status: 403, text: /"detail":"You do not have permission to perform this action\."/ }
  t.match(await world.get(path, 'phx_stranger'), forbidden)
  t.match(await world.send('POST', path, { target_email: 'b@example.com' }, 'phx_stranger'), forbidden)
  t.match(
    await world.send('POST', `${path}bulk`, [{ target_email: 'b@example.com' }], 'phx_stranger'),
    forbidden,
  )
  t.match(jsonOf(await world.get(theirs, 'phx_stranger')), { count: 0 })
  await addKey(world.postgres, 'phx_reader', 3, {
    scopes: ['organization_member:read', 'organization:write'],
  })
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  for (const at of [path, `${path}bulk`]) {
    t.match(await world.send('POST', at, {}, 'phx_reader'), {
      status: 403,
      text: /scope 'organization_member:write'/,
    })
  }
  t.equal((await world.get(`${path}${ids.nobodys}`)).status, 405)
  t.equal((await stored(world)).length, 1)
})

t.test('sends a mail with the only copy of the token, after the invite is stored', async (t) => {
  const { world, mails } = await openMailWorld(t)
  const body = { target_email: 'a@example.com', first_name: 'Ada', message: 'Come in' }
  const reply = await world.send('POST', path, body)
  const { id } = jsonOf(reply)
  t.match(jsonOf(reply), { emailing_attempt_made: true })
  t.match(mails, [
    { to: 'a@example.com', subject: 'owner@spate.example invited you to join Ours', about: `invite ${id}` },
  ])
  const { text } = mails[0]!
  t.match(text, /^Hello Ada,\n\nowner@spate\.example invites you to join Ours on Spate\.\n\nCome in\n/)
  const token =
    new RegExp(`https://spate\\.example/join/#${ids.ours}/${id}/(\\w{40,})\n`).exec(text)?.[1] ?? ''
  t.ok(token.length >= 40)
  const answers = [reply.text, (await world.get(path)).text, JSON.stringify(await stored(world))]
  answers.push((await world.get(`/api/organizations/${ids.ours}/activity/`)).text)
  for (const answer of answers) t.notMatch(answer, token)
  t.notMatch((await world.get(path)).text, 'token')

  const quiet = await world.send('POST', path, { target_email: 'b@example.com', send_email: false })
  t.match(jsonOf(quiet), { emailing_attempt_made: false, send_email: false })
  await world.send('POST', path, { target_email: 'c@example.com', level: 15 }, 'phx_member')
  t.equal(mails.length, 1)
})

t.test('sends an address five mails an hour, and an organization a hundred', async (t) => {
  const { world, mails } = await openMailWorld(t)
  const attempted: boolean[] = []
  for (let count = 0; count < 6; count++) {
    attempted.push(
      jsonOf(await world.send('POST', path, { target_email: 'A@example.com' })).emailing_attempt_made,
    )
  }
  t.same(attempted, [true, true, true, true, true, false])
  for (let batch = 0; batch < 5; batch++) {
    const people = Array.from({ length: 20 }, (_, index) => ({
      target_email: `p${batch}-${index}@example.com`,
    }))
    t.equal((await world.send('POST', `${path}bulk`, people)).status, 200)
  }
  t.equal((await stored(world)).filter((row) => row.emailing_attempt_made).length, 99 - 4)
  world.clock.ms += 3_600_000
  t.match(jsonOf(await world.send('POST', path, { target_email: 'a@example.com' })), {
    emailing_attempt_made: true,
  })
  t.ok(mails.length >= 5)
})

t.test('an inviter has no more mails for having more organizations', async (t) => {
  const { world } = await openMailWorld(t)
  const places: string[] = [ids.ours]
  for (const name of ['Second', 'Third']) {
    places.push(jsonOf(await world.send('POST', '/api/organizations/', { name })).id)
  }
  const people = (from: string) =>
    Array.from({ length: 20 }, (_, index) => ({ target_email: `p${index}@${from}.example` }))
  for (const place of places) {
    for (const batch of ['a', 'b']) {
      const reply = await world.send(
        'POST',
        `/api/organizations/${place}/invites/bulk`,
        people(`${batch}-${place.slice(0, 8)}`),
      )
      t.equal(reply.status, 200, reply.text)
    }
  }
  const made = await stored(world)
  t.equal(made.length, 120)
  t.equal(made.filter((row) => row.emailing_attempt_made).length, 100)
})

t.test('one mailbox is one invite, however its domain is written', async (t) => {
  const { world } = await openMailWorld(t)
  const attempted: boolean[] = []
  for (const domain of [
    'MÜNCHEN.de',
    'mu\u0308nchen.de',
    'xn--mnchen-3ya.de',
    'XN--MNCHEN-3YA.de',
    'münchen.DE',
  ]) {
    const reply = jsonOf(await world.send('POST', path, { target_email: `Ada@${domain}` }))
    t.equal(reply.target_email, 'Ada@xn--mnchen-3ya.de')
    attempted.push(reply.emailing_attempt_made)
  }
  const last = jsonOf(await world.send('POST', path, { target_email: 'ada@münchen.de' }))
  t.same([...attempted, last.emailing_attempt_made], [true, true, true, true, true, false])
  t.match(await stored(world), [{ target_email: 'ada@xn--mnchen-3ya.de' }])
  const addresses = ['ada@münchen.de.', '\u212aelvin@example.com', 'a(1)@example.com', 'a,b@example.com']
  for (const target_email of addresses) {
    t.match(
      await world.send('POST', path, { target_email }),
      validationError('invalid_input', 'Enter a valid email address.', 'target_email'),
    )
  }
  t.equal((await stored(world)).length, 1)
})

t.test('a mail leads to SITE_URL, whatever Host the inviter names', async (t) => {
  const { world, mails } = await openMailWorld(t)
  const headers = {
    host: 'evil.example',
    authorization: 'Bearer phx_owner',
    'content-type': 'application/json',
    'x-forwarded-host': 'evil.example',
  }
  const { port } = world.server
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers })
  sent.end(JSON.stringify({ target_email: 'a@example.com' }))
  const [reply] = await once(sent, 'response')
  reply.resume()
  t.equal(reply.statusCode, 201)
  t.match(mails[0]?.text, /https:\/\/spate\.example\/join\/#/)
  t.notMatch(mails[0]?.text, 'evil')
})
