import t from 'tap'
import { addKey, ids, jsonOf, openWorld, validationError, type World } from '../api/world.ts'

const path = `/api/organizations/${ids.ours}/domains/`
const notFound = { status: 404, text: /"code":"not_found"/ }
const saml = { saml_entity_id: 'entity', saml_acs_url: 'https://idp.example/acs', saml_x509_cert: 'MIIcert' }

async function stored(world: World): Promise<Record<string, unknown>[]> {
  const { rows } = await world.postgres.query<Record<string, unknown>>(
    'select * from organization_domain order by domain',
  )
  return rows
}

async function make(world: World, domain = 'example.com', fields: object = {}): Promise<{ id: string }> {
  const reply = await world.send('POST', path, { domain, ...fields })
  if (reply.status !== 201) throw new Error(reply.text)
  return jsonOf(reply)
}

const verify = (world: World, id: string) =>
  world.postgres.query(`update organization_domain set verified_at = '2024-04-01T00:00:00Z' where id = $1`, [
    id,
  ])

t.test('adds a domain that is still to be proved, whatever the caller says of it', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', path, {
    domain: ' example.com ',
    is_verified: true,
    verified_at: '2024-01-01T00:00:00Z',
    verification_challenge: '123',
    jit_provisioning_enabled: true,
    sso_enforcement: 'saml',
    has_saml: true,
    id: ids.nobodys,
    organization_id: ids.theirs,
    ['__proto__']: { is_verified: true },
  })
  t.equal(reply.status, 201)
  const made = jsonOf(reply)
  t.strictSame(made, {
    id: made.id,
    domain: 'example.com',
    is_verified: false,
    verified_at: null,
    verification_challenge: made.verification_challenge,
    jit_provisioning_enabled: false,
    sso_enforcement: '',
    has_saml: false,
    saml_entity_id: null,
    saml_acs_url: null,
    saml_x509_cert: null,
  })
  t.match(made.id, /^018f3406-9e00-7/)
  t.match(made.verification_challenge, /^[\w-]{43}$/)
  t.match(await stored(world), [
    { id: made.id, organization_id: ids.ours, verified_at: null, sso_enforcement: '' },
  ])
  t.match(jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/`)).results, [
    {
      activity: 'created',
      scope: 'OrganizationDomain',
      item_id: made.id,
      detail: { changes: [{ field: 'domain', before: null, after: 'example.com' }, {}, {}] },
    },
  ])
})

t.test('lists domains by name, and retrieves one', async (t) => {
  const world = await openWorld(t)
  for (const domain of ['b.example', 'a.example', 'c.example']) await make(world, domain)
  const list = jsonOf(await world.get(`${path}?limit=2`))
  t.match(list, {
    count: 3,
    next: `https://spate.example${path}?limit=2&offset=2`,
    previous: null,
    results: [{ domain: 'a.example' }, { domain: 'b.example' }],
  })
  t.same(jsonOf(await world.get(`${path}${list.results[1].id}`)), list.results[1])
})

t.test('refuses what is no domain, in the words of the API, and stores nothing', async (t) => {
  const world = await openWorld(t)
  const wrong = [
    'test@posthog.com',
    'one.two.c',
    '--alpha.com',
    'Example.com',
    'example',
    '-a.com',
    'a-.com',
    'a..com',
  ]
  const wronger = [
    'a.com.',
    'http://a.com',
    'a.com/x',
    '*.a.com',
    '1.2.3.4',
    'münchen.de',
    `${'a'.repeat(64)}.com`,
    'a b.com',
  ]
  for (const domain of [...wrong, ...wronger]) {
    t.match(
      await world.send('POST', path, { domain }),
      validationError('invalid_input', 'Please enter a valid domain or subdomain name.', 'domain'),
      domain,
    )
  }
  const cases: [body: object, code: string, attr: string][] = [
    [{}, 'required', 'domain'],
    [{ domain: '' }, 'blank', 'domain'],
    [{ domain: null }, 'null', 'domain'],
    [{ domain: `${'a.'.repeat(63)}com` }, 'max_length', 'domain'],
    [{ domain: 'a.com', jit_provisioning_enabled: 'maybe' }, 'invalid_input', 'jit_provisioning_enabled'],
    [{ domain: 'a.com', sso_enforcement: 'x'.repeat(29) }, 'max_length', 'sso_enforcement'],
    [{ domain: 'a.com', saml_entity_id: 'x'.repeat(513) }, 'max_length', 'saml_entity_id'],
    [{ domain: 'a.com', saml_acs_url: 'x'.repeat(513) }, 'max_length', 'saml_acs_url'],
    [{ domain: 'a.com', saml_x509_cert: 'x'.repeat(65_537) }, 'max_length', 'saml_x509_cert'],
    [{ domain: 'a.com', saml_x509_cert: 'a\0' }, 'invalid_input', 'saml_x509_cert'],
  ]
  for (const [body, code, attr] of cases) {
    const reply = await world.send('POST', path, body)
    t.equal(reply.status, 400)
    t.match(jsonOf(reply), { code, attr })
  }
  t.same(await stored(world), [])
  for (const domain of [
    'posthog.com',
    'a.b-c.example',
    'x1.io',
    'xn--mnchen-3ya.de',
    `${'a'.repeat(63)}.com`,
  ]) {
    await make(world, domain)
  }
})

t.test('gives a domain to one organization only', async (t) => {
  const world = await openWorld(t)
  await make(world)
  const taken = validationError('unique', 'domain with this domain already exists.', 'domain')
  t.match(await world.send('POST', path, { domain: 'example.com' }), taken)
  const theirs = `/api/organizations/${ids.theirs}/domains/`
  t.match(await world.send('POST', theirs, { domain: 'example.com' }, 'phx_stranger'), taken)
  const other = jsonOf(await world.send('POST', theirs, { domain: 'other.example' }, 'phx_stranger'))
  t.match(await world.send('PATCH', `${theirs}${other.id}`, { domain: 'example.com' }, 'phx_stranger'), taken)
  t.match(await stored(world), [
    { domain: 'example.com', organization_id: ids.ours },
    { domain: 'other.example' },
  ])
})

t.test('single sign-on is set once the domain is proved', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world)
  for (const field of ['jit_provisioning_enabled', 'sso_enforcement']) {
    t.match(
      await world.send('PATCH', path + id, { [field]: field === 'sso_enforcement' ? 'saml' : true }),
      validationError(
        'verification_required',
        'This field cannot be updated until the domain is verified.',
        field,
      ),
    )
  }
  const same = { domain: 'example.com', jit_provisioning_enabled: false, sso_enforcement: '' }
  t.equal((await world.send('PUT', path + id, same)).status, 200)
  await verify(world, id)
  const input = { sso_enforcement: 'google-oauth2', jit_provisioning_enabled: true }
  const reply = await world.send('PATCH', path + id, input, 'phx_administrator')
  t.equal(reply.status, 200)
  t.match(jsonOf(reply), { ...input, is_verified: true, verified_at: '2024-04-01T00:00:00Z' })
  t.match(await stored(world), [input])
})

t.test('another name has to be proved again', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world)
  await verify(world, id)
  await world.send('PATCH', path + id, { sso_enforcement: 'saml', jit_provisioning_enabled: true })
  const reply = await world.send('PATCH', path + id, { domain: 'victim.example', sso_enforcement: 'github' })
  t.equal(reply.status, 200)
  t.match(jsonOf(reply), {
    domain: 'victim.example',
    is_verified: false,
    verified_at: null,
    sso_enforcement: '',
    jit_provisioning_enabled: false,
  })
})

t.test('has SAML after the third field, and keeps the certificate sealed', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world)
  for (const [field, value] of Object.entries(saml)) {
    world.clock.ms += 1000
    const reply = jsonOf(await world.send('PATCH', path + id, { [field]: value }))
    t.equal(reply[field], value)
    t.equal(reply.has_saml, field === 'saml_x509_cert', field)
  }
  const [row] = await stored(world)
  t.match(row?.saml_x509_cert, /^sealed1\.aaaaaaaa\./)
  t.match(jsonOf(await world.get(path)).results, [{ ...saml, has_saml: true }])
  const activity = await world.get(`/api/organizations/${ids.ours}/activity/`)
  t.notMatch(activity.text, 'MIIcert')
  t.match(jsonOf(activity).results[0].detail, {
    changes: [{ field: 'saml_x509_cert', before: null, after: '********' }],
  })
  for (const nothing of ['', null]) {
    const reply = jsonOf(await world.send('PATCH', path + id, { saml_x509_cert: nothing }))
    t.match(reply, { has_saml: false, saml_x509_cert: nothing, saml_entity_id: 'entity' })
    await world.send('PATCH', path + id, saml)
  }
})

t.test('a certificate whose key is gone says so, and can be saved again', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world, 'example.com', saml)
  await world.postgres.query(`update organization_domain set saml_x509_cert = 'sealed1.bbbbbbbb.AAAA'`)
  t.match(await world.get(path + id), {
    status: 500,
    text: /"code":"secret_unreadable","detail":"A stored credential needs the secret key bbbbbbbb, which is missing\."/,
  })
  t.equal((await world.send('PATCH', path + id, { saml_entity_id: 'x' })).status, 500)
  t.match(await world.send('PATCH', path + id, { saml_x509_cert: 'MIInew' }), {
    status: 200,
    text: /"MIInew"/,
  })
  await world.postgres.query(`update organization_domain set saml_x509_cert = 'sealed1.bbbbbbbb.AAAA'`)
  t.match(await world.send('DELETE', path + id, ''), { status: 204 })
})

t.test('deletes a domain, which is then free for others', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world)
  world.clock.ms += 1000
  t.match(await world.send('DELETE', path + id, '', 'phx_administrator'), { status: 204, text: '' })
  t.same(await stored(world), [])
  t.match(await world.send('DELETE', path + id, ''), notFound)
  const { results } = jsonOf(await world.get(`/api/organizations/${ids.ours}/activity/`))
  t.match(results[0], { activity: 'deleted', item_id: id, detail: { changes: [{ before: 'example.com' }] } })
})

t.test('members read, administrators change, with the scopes for it', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world)
  const insufficient = { status: 403, text: /"detail":"Your organization access level is insufficient\."/ }
  t.equal((await world.get(path, 'phx_member')).status, 200)
  t.equal((await world.get(path + id, 'phx_member')).status, 200)
  await addKey(world.postgres, 'phx_reader', 3, { scopes: ['organization:read'] })
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  await addKey(world.postgres, 'phx_other', 3, { scopes: ['organization_member:write', 'project:write'] })
  t.match(await world.get(path, 'phx_other'), { status: 403, text: /scope 'organization:read'/ })
  const verbs: [method: string, path: string][] = [
    ['POST', path],
    ['PATCH', path + id],
    ['PUT', path + id],
    ['DELETE', path + id],
    ['POST', `${path}${id}/verify`],
  ]
  for (const [method, at] of verbs) {
    t.match(await world.send(method, at, { domain: 'x.example' }, 'phx_member'), insufficient, method)
    t.match(await world.send(method, at, { domain: 'x.example' }, 'phx_reader'), {
      status: 403,
      text: /API key missing required scope 'organization:write'/,
    })
  }
  t.match(await stored(world), [{ domain: 'example.com', verified_at: null }])
})

t.test('an organization of others is a wall, and so are its domains', async (t) => {
  const world = await openWorld(t)
  const { id } = await make(world)
  const forbidden = { status: 403, text: /"detail":"You do not have permission to perform this action\."/ }
  const theirs = `/api/organizations/${ids.theirs}/domains/`
  for (const [method, at] of [
    ['POST', path],
    ['PATCH', path + id],
    ['DELETE', path + id],
    ['POST', `${path}${id}/verify`],
  ] as const) {
    t.match(await world.send(method, at, { domain: 'x.example' }, 'phx_stranger'), forbidden)
    const mine = at.replace(ids.ours, ids.theirs)
    if (at !== path)
      t.match(await world.send(method, mine, { domain: 'x.example' }, 'phx_stranger'), notFound)
  }
  t.match(await world.get(path, 'phx_stranger'), forbidden)
  t.match(jsonOf(await world.get(theirs, 'phx_stranger')), { count: 0, results: [] })
  t.match(await world.get(`/api/organizations/@current/domains/${id}`, 'phx_stranger'), notFound)
  for (const other of ['no-uuid', ids.nobodys, '%00']) t.match(await world.get(path + other), notFound)
  t.match(await stored(world), [{ domain: 'example.com', organization_id: ids.ours }])
})
