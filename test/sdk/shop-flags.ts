// The flags of a shop, defined over the management API as a customer would, for tests with real SDKs.

import type { TestServer } from '../support/client.ts'
import { until } from '../support/until.ts'

const property = (key: string, value: string, more: object = {}) => ({
  key,
  value,
  operator: 'exact',
  type: 'person',
  ...more,
})

/** Who gets which variant of `beta-feature`, half and half, by published vectors. */
export const variantsOfUsers = {
  user1: 'test',
  user2: 'control',
  user3: 'test',
  user4: 'test',
  user5: 'control',
  user6: 'control',
  user7: 'test',
  user8: 'test',
  user9: 'control',
  user10: 'control',
} as const

/** What user1 has with the plan pro in a company of the tier gold; remote configuration and inactive flags aside. */
export const proFlags = {
  'beta-feature': 'test',
  pros: true,
  'after-pros': true,
  cohorted: true,
  gold: true,
} as const

/** What user2 has with the plan free in a company of the tier tin. */
export const freeFlags = {
  'beta-feature': 'control',
  pros: false,
  'after-pros': false,
  cohorted: false,
  gold: false,
} as const

/** Sends a definition and returns what was made of it. */
export async function define(server: TestServer, resource: string, body: object): Promise<{ id: number }> {
  const authorization = `Bearer ${server.personalApiKey}`
  const reply = await server.post(`/api/projects/@current/${resource}/`, body, { authorization })
  if (reply.status !== 201) throw new Error(`${resource}: ${reply.status} ${reply.text}`)
  return JSON.parse(reply.text)
}

/**
 * Defines the flags beta-feature (variants control and test, a payload for test), pros (of the plan pro), after-pros
 * (who has pros), cohorted (who is in a cohort of the plan pro), gold (companies of the tier gold), off (inactive) and
 * limits (remote configuration), and waits until the server evaluates them.
 */
export async function defineShopFlags(server: TestServer): Promise<void> {
  const group = {
    event: '$groupidentify',
    distinct_id: 'setup',
    properties: { $group_type: 'company', $group_key: 'c' },
  }
  await server.post('/capture/', { api_key: server.projectApiKey, ...group })
  await server.settled()
  const isPro = property('plan', 'pro')
  const cohort = await define(server, 'cohorts', {
    name: 'Pros',
    filters: { properties: { type: 'AND', values: [{ type: 'OR', values: [isPro] }] } },
  })
  const halves = ['control', 'test'].map((key) => ({ key, rollout_percentage: 50 }))
  const on = (condition: object, more: object = {}) => ({ filters: { groups: [condition], ...more } })
  const everyone = { properties: [], rollout_percentage: 100 }
  await define(server, 'feature_flags', {
    key: 'beta-feature',
    ...on(everyone, { multivariate: { variants: halves }, payloads: { test: '{"a": 1}' } }),
  })
  const pros = await define(server, 'feature_flags', {
    key: 'pros',
    ...on({ properties: [isPro] }, { payloads: { true: '["x"]' } }),
  })
  const flags = [
    {
      key: 'after-pros',
      ...on({
        properties: [
          property(String(pros.id), '', { type: 'flag', value: true, operator: 'flag_evaluates_to' }),
        ],
      }),
    },
    { key: 'cohorted', ...on({ properties: [{ key: 'id', value: cohort.id, type: 'cohort' }] }) },
    {
      key: 'gold',
      ...on(
        { properties: [property('tier', 'gold', { type: 'group', group_type_index: 0 })] },
        { aggregation_group_type_index: 0 },
      ),
    },
    { key: 'off', active: false },
    {
      key: 'limits',
      is_remote_configuration: true,
      filters: { groups: [everyone], payloads: { true: '{"limit": 5}' } },
    },
  ]
  for (const flag of flags) await define(server, 'feature_flags', flag)
  const asked = { api_key: server.projectApiKey, distinct_id: 'nobody' }
  await until(async () => (await server.post('/flags/?v=2', asked)).text.includes('"limits"'))
}
