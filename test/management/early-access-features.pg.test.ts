import t from 'tap'
import { type Answer, addKey, jsonOf, openWorld } from '../api/world.ts'

const path = '/api/projects/1/early_access_feature/'
const flagsPath = '/api/projects/1/feature_flags/'
const superGroups = (key: string) => [
  {
    properties: [{ key: `$feature_enrollment/${key}`, type: 'person', operator: 'exact', value: ['true'] }],
    rollout_percentage: 100,
  },
]

function refusal(answer: Answer): unknown[] {
  const { code, detail, attr } = jsonOf(answer)
  return [answer.status, code, attr, detail]
}

t.test('makes a flag that only who opted in gets, while the feature is released', async (t) => {
  const world = await openWorld(t)
  const reply = await world.send('POST', path, { name: ' Nëw Bilder, 2! ', stage: 'draft' })
  t.equal(reply.status, 201)
  const feature = jsonOf(reply)
  t.strictSame(feature, {
    id: feature.id,
    name: 'Nëw Bilder, 2!',
    description: '',
    stage: 'draft',
    documentation_url: '',
    created_at: '2024-05-01T12:00:00Z',
    feature_flag: {
      id: 1,
      key: 'ne-w-bilder-2',
      name: 'Feature Flag for Feature Nëw Bilder, 2!',
      filters: { groups: [{ properties: [], rollout_percentage: 0, variant: null }], payloads: {} },
      active: true,
      deleted: false,
      ensure_experience_continuity: false,
      version: 1,
    },
  })
  const stages: [stage: string, expected: unknown][] = [
    ['concept', undefined],
    ['alpha', superGroups('ne-w-bilder-2')],
    ['beta', superGroups('ne-w-bilder-2')],
    ['general-availability', superGroups('ne-w-bilder-2')],
    ['archived', null],
  ]
  for (const [stage, expected] of stages) {
    const changed = jsonOf(await world.send('PATCH', `${path}${feature.id}/`, { stage }))
    t.equal(changed.stage, stage)
    t.strictSame(changed.feature_flag.filters.super_groups, expected, stage)
    t.equal(changed.feature_flag.filters.groups[0].rollout_percentage, 0)
  }
  t.match(jsonOf(await world.get(`${flagsPath}1`)), {
    features: [{ id: feature.id, stage: 'archived' }],
    version: 3,
  })
})

t.test('takes a flag that exists, lists, changes and ends', async (t) => {
  const world = await openWorld(t)
  const filters = { groups: [{ rollout_percentage: 20 }] }
  const flag = jsonOf(await world.send('POST', flagsPath, { key: 'mine', filters }))
  const input = {
    name: 'Mine',
    stage: 'beta',
    feature_flag_id: flag.id,
    description: 'd',
    documentation_url: 'https://docs.example/x',
  }
  const feature = jsonOf(await world.send('POST', path, input))
  t.match(feature, {
    description: 'd',
    documentation_url: 'https://docs.example/x',
    feature_flag: { key: 'mine', filters: { ...filters, super_groups: superGroups('mine') } },
  })
  t.match(jsonOf(await world.get(path)), { count: 1, results: [{ id: feature.id }] })
  t.strictSame(jsonOf(await world.get(`${path}${feature.id}`)), feature)
  t.match(jsonOf(await world.send('PUT', `${path}${feature.id}`, { name: 'New', stage: 'beta' })), {
    name: 'New',
    description: 'd',
  })
  t.strictSame(refusal(await world.send('PATCH', `${flagsPath}${flag.id}`, { deleted: true })), [
    400,
    'invalid_input',
    'deleted',
    'Cannot delete this feature flag because it is in use with early access features; delete those first.',
  ])
  t.strictSame(refusal(await world.send('PATCH', `${flagsPath}${flag.id}`, { key: 'other' })).slice(0, 3), [
    400,
    'invalid_input',
    'key',
  ])
  const ended = await world.send('DELETE', `${path}${feature.id}/`, '')
  t.equal(ended.status, 204)
  t.equal(ended.text, '')
  t.equal((await world.get(`${path}${feature.id}`)).status, 404)
  t.strictSame(jsonOf(await world.get(`${flagsPath}${flag.id}`)).filters, { ...filters, super_groups: null })
  t.equal((await world.send('PATCH', `${flagsPath}${flag.id}`, { deleted: true })).status, 200)
  const { rows } = await world.postgres.query(
    `select activity from organization_activity where scope = 'EarlyAccessFeature' order by id`,
  )
  t.same(rows.map((row) => Object.values(row)[0]).sort(), ['created', 'deleted', 'updated'])
})

t.test('refuses what is wrong with a feature, and makes no flag then', async (t) => {
  const world = await openWorld(t)
  await world.send('POST', flagsPath, { key: 'taken' })
  const group = jsonOf(
    await world.send('POST', flagsPath, {
      key: 'group',
      filters: { groups: [], aggregation_group_type_index: 0 },
    }),
  )
  const used = jsonOf(await world.send('POST', path, { name: 'used', stage: 'beta' }))
  const beta = { name: 'x', stage: 'beta' }
  const cases: [body: unknown, code: string, attr: string, detail: string | RegExp][] = [
    [{ stage: 'beta' }, 'required', 'name', 'This field is required.'],
    [{ name: 'x' }, 'required', 'stage', 'This field is required.'],
    [{ ...beta, stage: 'gamma' }, 'invalid_choice', 'stage', '"gamma" is not a valid choice.'],
    [
      { ...beta, documentation_url: 'javascript:alert(1)' },
      'invalid_input',
      'documentation_url',
      'Enter a valid value.',
    ],
    [{ ...beta, name: '日本' }, 'invalid_input', 'name', /No flag key can be made of this name/],
    [{ ...beta, name: 'Taken' }, 'unique', 'key', 'There is already a feature flag with this key.'],
    [
      { ...beta, feature_flag_id: 99 },
      'invalid_input',
      'feature_flag_id',
      'Feature Flag with this ID does not exist in this project.',
    ],
    [
      { ...beta, feature_flag_id: 2 ** 40 },
      'invalid_input',
      'feature_flag_id',
      'Feature Flag with this ID does not exist in this project.',
    ],
    [
      { ...beta, feature_flag_id: group.id },
      'invalid_input',
      'feature_flag_id',
      'Group-based feature flags are not supported for Early Access Features.',
    ],
    [
      { ...beta, feature_flag_id: used.feature_flag.id },
      'invalid_input',
      'feature_flag_id',
      'This flag belongs to another early access feature.',
    ],
  ]
  for (const [body, ...expected] of cases)
    t.match(refusal(await world.send('POST', path, body)), [400, ...expected])
  t.equal(jsonOf(await world.get(path)).count, 1)
  t.equal(jsonOf(await world.get(flagsPath)).count, 3)
})

t.test('features are behind the wall of their project, and need their scope', async (t) => {
  const world = await openWorld(t)
  await addKey(world.postgres, 'phx_reader', 1, { scopes: ['early_access_feature:read'] })
  await addKey(world.postgres, 'phx_flags', 1, { scopes: ['feature_flag:write'] })
  const { id, feature_flag } = jsonOf(await world.send('POST', path, { name: 'a', stage: 'beta' }))
  t.equal((await world.get(path, 'phx_reader')).status, 200)
  t.equal((await world.get(path, 'phx_flags')).status, 403)
  t.equal((await world.send('DELETE', `${path}${id}`, '', 'phx_reader')).status, 403)
  const theirs = '/api/projects/3/early_access_feature/'
  t.equal((await world.get(`${theirs}${id}`, 'phx_stranger')).status, 404)
  t.equal((await world.send('PATCH', `${theirs}${id}`, { name: 'x' }, 'phx_stranger')).status, 404)
  t.equal((await world.send('DELETE', `${theirs}${id}`, '', 'phx_stranger')).status, 404)
  const taking = { name: 'x', stage: 'beta', feature_flag_id: feature_flag.id }
  t.equal((await world.send('POST', theirs, taking, 'phx_stranger')).status, 400)
  t.equal((await world.get(`${path}no-uuid`)).status, 404)
  t.match(jsonOf(await world.get(`${path}${id}`)), { name: 'a', stage: 'beta' })
})
