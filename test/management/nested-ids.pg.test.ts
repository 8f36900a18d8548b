// Ids of somebody else's things inside bodies: whatever a body names is looked for within the caller's own walls, and
// what is not there is refused in the same words as what is nowhere.

import t from 'tap'
import { managementOperations } from '../../src/management/routes.ts'
import { addKey, ids, jsonOf, openWorld, type World } from '../api/world.ts'
import { addPerson, personUuid } from './identities.ts'
import { fieldsOf, snapshot } from './sweep.ts'

interface Naming {
  readonly method: string
  readonly path: string
  /** The body that names `id`. */
  readonly body: (id: unknown) => object
  /** Theirs, and one that nobody has. */
  readonly theirs: (world: World) => unknown
  readonly nobodys: unknown
  readonly key?: string
}

const nobodysUuid = '00000000-0000-4000-8000-0000000000ee'
const flags = '/api/projects/1/feature_flags/'
const organization = `/api/organizations/${ids.ours}/`
const cohortIn = (id: unknown) => ({
  groups: [{ properties: [{ key: 'id', type: 'cohort', value: id }], rollout_percentage: 100 }],
})
const flagIn = (id: unknown) => ({
  groups: [{ properties: [{ key: String(id), type: 'flag', value: true, operator: 'flag_evaluates_to' }] }],
})

const namings: readonly Naming[] = [
  {
    method: 'POST',
    path: `${organization}invites/`,
    body: (id) => ({ target_email: 'a@example.com', private_project_access: [{ id, level: 1 }] }),
    theirs: () => 3,
    nobodys: 99,
  },
  {
    method: 'POST',
    path: '/api/personal_api_keys/',
    body: (id) => ({ label: 'a', scopes: [], scoped_organizations: [id] }),
    theirs: () => ids.theirs,
    nobodys: nobodysUuid,
  },
  {
    method: 'POST',
    path: '/api/personal_api_keys/',
    body: (id) => ({ label: 'a', scopes: [], scoped_teams: [id] }),
    theirs: () => 3,
    nobodys: 99,
  },
  {
    method: 'PATCH',
    path: '/api/users/@me/',
    body: (id) => ({ set_current_organization: id }),
    theirs: () => ids.theirs,
    nobodys: nobodysUuid,
  },
  {
    method: 'PATCH',
    path: '/api/users/@me/',
    body: (id) => ({ set_current_team: id }),
    theirs: () => 3,
    nobodys: 99,
  },
  // The other project of the caller's own organization is as far away as a stranger's.
  {
    method: 'PATCH',
    path: '/api/users/@me/',
    body: (id) => ({ set_current_team: id }),
    theirs: () => 2,
    nobodys: 99,
    key: 'phx_first_project',
  },
  {
    method: 'POST',
    path: flags,
    body: (id) => ({ key: 'a', filters: cohortIn(id) }),
    theirs: cohortId,
    nobodys: 99,
  },
  {
    method: 'POST',
    path: flags,
    body: (id) => ({ key: 'a', filters: flagIn(id) }),
    theirs: flagId,
    nobodys: 99,
  },
  {
    method: 'PATCH',
    path: `${flags}1/`,
    body: (id) => ({ filters: cohortIn(id) }),
    theirs: cohortId,
    nobodys: 99,
  },
  {
    method: 'POST',
    path: '/api/projects/1/cohorts/',
    body: (value) => ({
      name: 'a',
      filters: { properties: { type: 'AND', values: [{ key: 'id', type: 'cohort', value }] } },
    }),
    theirs: cohortId,
    nobodys: 99,
  },
  {
    method: 'POST',
    path: '/api/projects/1/early_access_feature/',
    body: (feature_flag_id) => ({ name: 'a', stage: 'beta', feature_flag_id }),
    theirs: flagId,
    nobodys: 99,
  },
  {
    method: 'POST',
    path: `${organization}batch_exports/`,
    body: (token) => ({
      name: 'a',
      interval: 'hour',
      destination: { type: 'NoOp', config: {} },
      token,
    }),
    theirs: () => 'phc_3',
    nobodys: 'phc_nobodys',
  },
  {
    method: 'POST',
    path: '/api/projects/2/explicit_members/',
    body: (user_uuid) => ({ user_uuid }),
    theirs: (world) => userUuid(world, 4),
    nobodys: nobodysUuid,
  },
]

/** Fields of bodies whose names say that they hold an id; a new one wants a naming above, or a reason here. */
const named = /(?:^|_)(?:id|ids|uuid|team|teams|organization|organizations|token|api_key)$/
const reached = new Set([
  'private_project_access__0__id',
  '0__private_project_access__0__id',
  'scoped_organizations',
  'scoped_teams',
  'set_current_organization',
  'set_current_team',
  'feature_flag_id',
  'token',
  'user_uuid',
])
const excused: Readonly<Record<string, string>> = {
  api_key: 'the same as token, which is read by the same line',
  logo_media_id: 'kept as text: there are no media',
  role_at_organization: 'a word',
  saml_entity_id: 'of an identity provider',
  person_ids: 'answers which it does not know, below',
  person_id: 'of a cohort that is found first, below',
}

async function cohortId({ postgres }: World): Promise<unknown> {
  return (await postgres.query<{ id: number }>(`select id from cohort where name = 'theirs'`)).rows[0]?.id
}

async function flagId({ postgres }: World): Promise<unknown> {
  return (await postgres.query<{ id: number }>(`select id from feature_flag where key = 'theirs'`)).rows[0]
    ?.id
}

async function userUuid({ postgres }: World, id: number): Promise<unknown> {
  return (await postgres.query<{ uuid: string }>('select uuid from app_user where id = $1', [id])).rows[0]
    ?.uuid
}

async function openNaming(t: Parameters<typeof openWorld>[0]): Promise<World> {
  const world = await openWorld(t)
  await world.postgres.query('update project set access_control = true where id = 2')
  await addKey(world.postgres, 'phx_first_project', 3, { projects: [1] })
  const made = [
    await world.send('POST', flags, { key: 'ours' }),
    await world.send('POST', '/api/projects/1/cohorts/', { name: 'ours', is_static: true }),
    await world.send('POST', '/api/projects/3/feature_flags/', { key: 'theirs' }, 'phx_stranger'),
    await world.send('POST', '/api/projects/3/cohorts/', { name: 'theirs', is_static: true }, 'phx_stranger'),
  ]
  for (const { status, text } of made) if (status !== 201) throw new Error(text)
  await addPerson(world.postgres, { number: 1 })
  await addPerson(world.postgres, { number: 3, projectId: 3 })
  return world
}

t.test("what a body names of somebody else's is refused as what is nowhere", async (t) => {
  const world = await openNaming(t)
  const before = await snapshot(world.postgres)
  for (const { method, path, body, theirs, nobodys, key = 'phx_owner' } of namings) {
    const id = await theirs(world)
    const name = `${method} ${path} ${JSON.stringify(body(id))}`
    const foreign = await world.send(method, path, body(id), key)
    const nowhere = await world.send(method, path, body(nobodys), key)
    t.ok(foreign.status >= 400 && foreign.status < 500, `${name}: ${foreign.status} ${foreign.text}`)
    t.equal(foreign.status, nowhere.status, name)
    const blurred = (text: string, own: unknown): string => text.replaceAll(String(own), 'ID')
    t.equal(blurred(foreign.text, id), blurred(nowhere.text, nobodys), name)
  }
  t.strictSame(await snapshot(world.postgres), before)
})

t.test("persons of another project come into no cohort, and nobody's cohort loses its own", async (t) => {
  const world = await openNaming(t)
  const { rows } = await world.postgres.query<{ id: number }>(`select id from cohort order by id`)
  const [ours, theirs] = rows
  const at = (id: number | undefined, verb: string) => `/api/projects/1/cohorts/${id}/${verb}_static_cohort/`
  const added = await world.send('POST', at(ours?.id, 'add_persons_to'), {
    person_ids: [personUuid(3), personUuid(1)],
  })
  t.match(jsonOf(added), { added: 1, unknown_person_ids: [personUuid(3)] })
  const foreign = `/api/projects/3/cohorts/${theirs?.id}/add_persons_to_static_cohort/`
  t.equal((await world.send('POST', foreign, { person_ids: [personUuid(3)] }, 'phx_stranger')).status, 200)
  for (const verb of ['add_persons_to', 'remove_person_from']) {
    const body = { person_ids: [personUuid(3)], person_id: personUuid(3) }
    t.equal((await world.send('POST', at(theirs?.id, verb), body)).status, 404)
  }
  t.equal(
    (await world.send('POST', at(ours?.id, 'remove_person_from'), { person_id: personUuid(3) })).status,
    404,
  )
  const stored = await world.postgres.query(
    'select project_id, person_uuid from cohort_person order by project_id',
  )
  t.same(stored.rows, [
    { project_id: 1, person_uuid: personUuid(1) },
    { project_id: 3, person_uuid: personUuid(3) },
  ])
})

t.test('every field that holds an id is walked here, or says why not', async (t) => {
  const { management } = await openWorld(t)
  const fields = managementOperations(management).flatMap(({ body }) => (body === null ? [] : fieldsOf(body)))
  const holding = [...new Set(fields.filter((field) => named.test(field)))]
  t.same(
    holding.filter((field) => !reached.has(field) && !(field in excused)),
    [],
  )
  t.same(
    [...reached, ...Object.keys(excused)].filter((field) => !holding.includes(field)),
    [],
  )
})
