// Walks every operation that changes something, those that are added later included: each writes its entry into the
// audit log of the organization, with who did it and from where, in the transaction of the change.

import t, { type Test } from 'tap'
import { openMailer } from '../../src/mail/mailer.ts'
import type { Mail } from '../../src/mail/transport.ts'
import { managementOperations } from '../../src/management/routes.ts'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { type Answer, ids, jsonOf, openWorld } from '../api/world.ts'
import { silentLog } from '../support/postgres.ts'
import { type Audited, type Step, walk } from './audit.ts'
import { batchExportSteps } from './audit-exports.ts'
import { addPerson, personUuid } from './identities.ts'

const organization = '/api/organizations/:organization_id'
const project = '/api/projects/:project_id'

/** Changes nothing. */
const reading = [`POST ${project}/query`]
/** Takes the audit log along. */
const unrecordable = ['DELETE /api/organizations/:id']

async function openAudited(t: Test): Promise<Audited & { mails: Mail[] }> {
  const mails: Mail[] = []
  const transport = { deliver: async (mail: Mail) => void mails.push(mail) }
  const mailer = openMailer({ transport, log: silentLog })
  t.teardown(() => mailer.close())
  const outbound = openOutbound({ allow: null, dnsServers: '127.0.0.1:1' })
  const made = new Map<string, string>()
  const proof = { ...outbound, textRecords: async () => [made.get('challenge') ?? ''] }
  // The first event is of 1970.
  const events = {
    listEvents: async () => ({ events: [], next: null }),
    query: async () => ({ columns: [], rows: [['0']] }),
    select: () => Promise.reject(new Error('no query is asked here')),
    selectParquet: () => Promise.reject(new Error('no query is asked here')),
  }
  const world = await openWorld(t, { mailer, outbound: proof, events })
  await world.postgres.query('update project set access_control = true where id = 2')
  for (const number of [1, 2]) await addPerson(world.postgres, { number })
  const { rows } = await world.postgres.query<{ id: number; uuid: string }>('select id, uuid from app_user')
  for (const { id, uuid } of rows) made.set(`user ${id}`, uuid)
  return { world, made, mails }
}

/** Steps on what belongs to an organization. */
function organizationSteps({ mails }: { mails: Mail[] }): Step[] {
  const member = `${organization}/members/:user__uuid`
  const domains = `${organization}/domains`
  const invites = `${organization}/invites`
  const token = (): string => /\/join\/#\S+\/(\w+)\n/.exec(mails.at(-1)?.text ?? '')?.[1] ?? ''
  return [
    { does: 'PUT /api/organizations/:id', body: { name: 'First' } },
    { does: 'PATCH /api/organizations/:id', body: { enforce_2fa: true } },
    {
      does: `POST ${domains}`,
      body: { domain: 'ours.example' },
      keeps: { domain: 'id', challenge: 'verification_challenge' },
    },
    { does: `PUT ${domains}/:id`, id: 'domain', body: { domain: 'ours.example', saml_entity_id: 'a' } },
    { does: `PATCH ${domains}/:id`, id: 'domain', body: { saml_entity_id: 'b' } },
    { does: `POST ${domains}/:id/verify`, id: 'domain' },
    { does: `DELETE ${domains}/:id`, id: 'domain' },
    { does: `POST ${invites}`, body: { target_email: 'a@example.com' }, keeps: { invite: 'id' } },
    { does: `DELETE ${invites}/:id`, id: 'invite' },
    { does: `POST ${invites}/bulk`, body: [{ target_email: 'b@example.com' }] },
    { does: `POST ${invites}`, body: { target_email: 'c@example.com' }, keeps: { invite: 'id' } },
    { does: `POST ${invites}/:id/accept`, id: 'invite', bodyOf: () => ({ token: token() }), by: null },
    { does: `PUT ${member}`, id: 'user 1', body: { level: 8 } },
    { does: `PATCH ${member}`, id: 'user 1', body: { level: 1 } },
    { does: `DELETE ${member}`, id: 'user 2' },
    { does: `POST ${organization}/projects`, body: { name: 'Third' }, keeps: { third: 'id' } },
    { does: `POST ${organization}/projects`, body: { name: 'Fourth' }, keeps: { fourth: 'id' } },
    { does: `PUT ${organization}/projects/:id`, id: 'third', body: { name: 'Renamed' } },
    { does: `PATCH ${organization}/projects/:id`, id: 'third', body: { name: 'Again' } },
    { does: `DELETE ${organization}/projects/:id`, id: 'third' },
    { does: 'DELETE /api/projects/:id', id: 'fourth' },
  ]
}

/** Steps on what belongs to a project. */
function projectSteps(): Step[] {
  const flags = `${project}/feature_flags`
  const cohorts = `${project}/cohorts`
  const features = `${project}/early_access_feature`
  const person = { person_ids: [personUuid(1)] }
  return [
    { does: 'PUT /api/projects/:id', id: 'project', body: { name: 'One' } },
    { does: 'PATCH /api/projects/:id', id: 'project', body: { timezone: 'Europe/Berlin' } },
    { does: `PATCH ${project}/rotate_secret_token` },
    { does: `PATCH ${project}/rotate_secret_token` },
    { does: `PATCH ${project}/delete_secret_token_backup` },
    { does: `POST ${flags}`, body: { key: 'a' }, keeps: { flag: 'id' } },
    { does: `PUT ${flags}/:id`, id: 'flag', body: { key: 'b' } },
    { does: `PATCH ${flags}/:id`, id: 'flag', body: { active: false } },
    { does: `POST ${cohorts}`, body: { name: 'a', is_static: true }, keeps: { cohort: 'id' } },
    { does: `PUT ${cohorts}/:id`, id: 'cohort', body: { name: 'b' } },
    { does: `PATCH ${cohorts}/:id`, id: 'cohort', body: { name: 'c' } },
    ...['POST', 'PATCH'].flatMap((method): Step[] => [
      { does: `${method} ${cohorts}/:id/add_persons_to_static_cohort`, id: 'cohort', body: person },
      {
        does: `${method} ${cohorts}/:id/remove_person_from_static_cohort`,
        id: 'cohort',
        body: { person_id: personUuid(1) },
      },
    ]),
    // With a flag of its own, which is told of as well.
    { does: `POST ${features}`, body: { name: 'a', stage: 'draft' }, keeps: { feature: 'id' }, entries: 2 },
    { does: `PUT ${features}/:id`, id: 'feature', body: { name: 'b', stage: 'draft' } },
    { does: `PATCH ${features}/:id`, id: 'feature', body: { name: 'c' } },
    { does: `DELETE ${features}/:id`, id: 'feature' },
    { does: `DELETE ${project}/persons/:uuid`, id: 'person' },
    {
      does: `POST ${project}/explicit_members`,
      in: 2,
      bodyOf: (made) => ({ user_uuid: made.get('user 1') }),
    },
    { does: `PUT ${project}/explicit_members/:user__uuid`, in: 2, id: 'user 1', body: { level: 8 } },
    { does: `PATCH ${project}/explicit_members/:user__uuid`, in: 2, id: 'user 1', body: { level: 1 } },
    { does: `DELETE ${project}/explicit_members/:user__uuid`, in: 2, id: 'user 1' },
  ]
}

/** Steps of a user, told to the organizations that the key opens. */
const userSteps: Step[] = [
  { does: 'PATCH /api/users/@me', body: { first_name: 'Grace' } },
  { does: 'POST /api/personal_api_keys', body: { label: 'a', scopes: ['*'] }, keeps: { key: 'id' } },
  { does: 'PUT /api/personal_api_keys/:id', id: 'key', body: { label: 'b', scopes: ['*'] } },
  { does: 'PATCH /api/personal_api_keys/:id', id: 'key', body: { label: 'c' } },
  { does: 'POST /api/personal_api_keys/:id/roll', id: 'key' },
  { does: 'DELETE /api/personal_api_keys/:id', id: 'key' },
  { does: 'POST /api/organizations', body: { name: 'Second' }, keeps: { second: 'id' } },
]

t.test('every operation that changes something writes one entry', async (t) => {
  const audited = await openAudited(t)
  const { world, made } = audited
  made.set('project', '1')
  made.set('person', personUuid(2))
  const steps = [...projectSteps(), ...batchExportSteps(organization), ...batchExportSteps(project)]
  steps.push(...organizationSteps(audited), ...userSteps)
  const walked = await walk(t, audited, steps)
  const changing = managementOperations(world.management)
    .map(({ method, path }) => `${method} ${path}`)
    .filter((name) => !name.startsWith('GET ') && !reading.includes(name) && !unrecordable.includes(name))
  t.ok(changing.length > 60, `${changing.length} operations`)
  t.same([...walked].sort(), [...new Set(changing)].sort())
})

t.test('a change that is refused, and one that changes nothing, write none', async (t) => {
  const { world } = await openAudited(t)
  const path = `/api/organizations/${ids.ours}/`
  const count = async (): Promise<number> => jsonOf(await world.get(`${path}activity/`)).count
  const same = async (answer: Promise<Answer>, status: number): Promise<void> => {
    t.equal((await answer).status, status)
    t.equal(await count(), 0)
  }
  await same(world.send('PATCH', path, { name: 'Ours' }), 200)
  await same(world.send('PATCH', path, { name: '' }), 400)
  await same(world.send('PATCH', '/api/users/@me/', { set_current_team: 1 }), 200)
  await same(world.send('PATCH', '/api/projects/1/', { timezone: 'Nowhere' }), 400)
  await same(world.send('POST', `${path}invites/bulk/`, [{ target_email: 'a@example.com' }, {}]), 400)
})

t.test('the deletion of an organization, and of its audit log, is in the log of the server', async (t) => {
  const lines: unknown[][] = []
  const info = (...words: unknown[]): void => void lines.push(words)
  const log = { ...silentLog, info } as typeof silentLog // what writes with info has no other use of it
  const world = await openWorld(t, { log })
  t.equal((await world.get(`/api/organizations/${ids.ours}/`, 'phx_owner', 'DELETE')).status, 204)
  const what = { organization: ids.ours, user: 3, key: 'phx_owner', address: '127.0.0.1' }
  t.same(
    lines.filter(([fields]) => Object.hasOwn(Object(fields), 'organization')),
    [[what, 'an organization was deleted']],
  )
})
