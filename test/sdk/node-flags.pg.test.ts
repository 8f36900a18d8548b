// posthog-node, as published, and a project's flags: asked of the server, and evaluated by the SDK itself.

import { PostHog } from 'posthog-node'
import { PostHog as PostHog3 } from 'posthog-node-3'
import t from 'tap'
import { queryEvents } from '../support/rows.ts'
import { startServerProcess } from '../support/server.ts'
import { until } from '../support/until.ts'
import { type Gate, openGate } from './gate.ts'
import { defineShopFlags, freeFlags, proFlags, variantsOfUsers } from './shop-flags.ts'

const server = await startServerProcess(t)
await defineShopFlags(server)

interface Context {
  readonly personProperties?: Record<string, string>
  readonly groups?: Record<string, string>
  readonly groupProperties?: Record<string, Record<string, string>>
}

type Flags = Record<string, boolean | string>

/** The part of the SDK that both versions have. */
interface Sdk {
  flags(id: string, context: Context): Promise<Flags>
  flagsAndPayloads(
    id: string,
    context: Context,
  ): Promise<{ featureFlags?: Flags; featureFlagPayloads?: object }>
  flag(key: string, id: string, isLocal: boolean): Promise<boolean | string | undefined>
  capture(message: { distinctId: string; event: string; properties: object }): void
  /** Resolves when definitions are loaded. */
  ready(): Promise<void>
  finish(): Promise<void>
}

interface Version {
  readonly name: string
  /** Where it asks for values, and where for definitions. */
  readonly valuesPath: string
  readonly definitionsPath: string
  /** Of user1, who has all flags: the older version leaves them as they come. */
  readonly payloads: object
  open(host: string, personalApiKey?: string): Sdk
}

const options = {
  flushAt: 1000,
  flushInterval: 60_000,
  requestTimeout: 10_000,
  featureFlagsRequestTimeoutMs: 10_000,
}

const versions: readonly Version[] = [
  {
    name: 'posthog-node 5.70.0',
    valuesPath: '/flags/',
    definitionsPath: '/flags/definitions',
    payloads: { 'beta-feature': { a: 1 }, pros: ['x'] },
    open(host, personalApiKey) {
      const key = personalApiKey === undefined ? {} : { personalApiKey }
      const sdk = new PostHog(server.projectApiKey, { host, ...options, ...key })
      return {
        flags: (id, context) => sdk.getAllFlags(id, context),
        flagsAndPayloads: (id, context) => sdk.getAllFlagsAndPayloads(id, context),
        flag: (flag, id, onlyEvaluateLocally) => sdk.getFeatureFlag(flag, id, { onlyEvaluateLocally }),
        capture: (message) => sdk.capture(message),
        ready: async () => void (await sdk.waitForLocalEvaluationReady(20_000)),
        finish: () => sdk.shutdown(),
      }
    },
  },
  {
    name: 'posthog-node 3.6.3',
    valuesPath: '/decide/',
    definitionsPath: '/api/feature_flag/local_evaluation',
    payloads: { 'beta-feature': '{"a": 1}', pros: '["x"]' },
    open(host, personalApiKey) {
      const key = personalApiKey === undefined ? {} : { personalApiKey }
      const sdk = new PostHog3(server.projectApiKey, { host, ...options, ...key })
      return {
        flags: (id, context) => sdk.getAllFlags(id, context),
        flagsAndPayloads: (id, context) => sdk.getAllFlagsAndPayloads(id, context),
        flag: (flag, id, onlyEvaluateLocally) => sdk.getFeatureFlag(flag, id, { onlyEvaluateLocally }),
        capture: (message) => sdk.capture(message),
        ready: () => sdk.reloadFeatureFlags(),
        finish: () => sdk.shutdownAsync(),
      }
    },
  },
]

function asked(gate: Gate, path: string): number {
  return gate.passages.filter((passage) => passage.path === path && passage.status === 200).length
}

const pro: Context = {
  personProperties: { plan: 'pro' },
  groups: { company: 'acme' },
  groupProperties: { company: { tier: 'gold' } },
}
const free: Context = {
  personProperties: { plan: 'free' },
  groups: { company: 'acme' },
  groupProperties: { company: { tier: 'tin' } },
}

for (const version of versions) {
  t.test(`${version.name} asks for flags, variants and payloads`, async (t) => {
    const gate = await openGate(t, server.url)
    const sdk = version.open(gate.url)
    t.match(await sdk.flags('user1', pro), proFlags)
    t.match(await sdk.flags('user2', free), freeFlags)
    t.notOk('off' in (await sdk.flags('user1', pro)), 'an inactive flag is not there')
    const { featureFlagPayloads } = await sdk.flagsAndPayloads('user1', pro)
    t.match(featureFlagPayloads, version.payloads)
    const ids = Object.keys(variantsOfUsers)
    const values = await Promise.all(ids.map((id) => sdk.flag('beta-feature', id, false)))
    t.same(values, Object.values(variantsOfUsers))
    await sdk.finish()
    t.ok(asked(gate, version.valuesPath) >= 10)
    t.equal(asked(gate, version.definitionsPath), 0)
  })

  t.test(`${version.name} evaluates by itself what the server would`, async (t) => {
    const gate = await openGate(t, server.url)
    const sdk = version.open(gate.url, server.personalApiKey)
    await sdk.ready()
    t.ok(asked(gate, version.definitionsPath) >= 1)
    const ids = Object.keys(variantsOfUsers)
    const values = await Promise.all(ids.map((id) => sdk.flag('beta-feature', id, true)))
    t.same(values, Object.values(variantsOfUsers))
    t.equal(await sdk.flag('off', 'user1', true), false)
    t.equal(asked(gate, version.valuesPath), 0, 'the server was not asked')
    t.match(await sdk.flags('user1', pro), proFlags)
    t.match(await sdk.flags('user2', free), freeFlags)
    const { featureFlagPayloads } = await sdk.flagsAndPayloads('user1', pro)
    t.match(featureFlagPayloads, version.payloads)

    for (const id of ids) {
      const variant = await sdk.flag('beta-feature', id, true)
      if (id === 'user10') continue
      const properties = { '$feature/beta-feature': variant, sdk: version.name }
      sdk.capture({ distinctId: id, event: 'purchase', properties })
    }
    await sdk.finish()
    t.ok(gate.captures().every(({ status }) => status === 200))
    const called = (await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user3' })).at(-1)
    t.match(called?.properties, {
      $feature_flag: 'beta-feature',
      $feature_flag_response: 'test',
      locally_evaluated: true,
      $lib: 'posthog-node',
    })
  })
}

t.test(
  'posthog-node 5.70.0 uses what it evaluates locally without asking, flags on flags and cohorts too',
  async (t) => {
    const gate = await openGate(t, server.url)
    const sdk = new PostHog(server.projectApiKey, {
      host: gate.url,
      ...options,
      personalApiKey: server.personalApiKey,
    })
    t.equal(await sdk.waitForLocalEvaluationReady(20_000), true)
    const local = { onlyEvaluateLocally: true }
    t.same(await sdk.getAllFlags('user1', { ...pro, ...local }), { ...proFlags, off: false })
    t.same(await sdk.getAllFlags('user2', { ...free, ...local }), { ...freeFlags, off: false })
    await sdk.reloadFeatureFlags()
    t.ok(
      gate.passages.some(({ path, status }) => path === '/flags/definitions' && status === 304),
      'by its ETag',
    )
    t.equal(await sdk.getFeatureFlag('beta-feature', 'user1', local), 'test')
    t.same(await sdk.getRemoteConfigPayload('limits'), { limit: 5 })
    t.equal(asked(gate, '/flags/'), 0)
    await sdk.shutdown()
  },
)

t.test('one query counts exposures and purchases of every variant', async (t) => {
  await until(async () => (await server.storedEvents({ event: 'purchase' })).length === 18)
  t.equal(await server.stop(), 0)
  const rows = await queryEvents(
    t,
    server.dataDir,
    `select properties ->> '$."$feature/beta-feature"' as variant,
       count(distinct distinct_id) filter (event = '$feature_flag_called') as exposed,
       count(distinct distinct_id) filter (event = 'purchase') as purchased
     from events where project_id = 1 and event in ('$feature_flag_called', 'purchase')
       and coalesce(properties ->> '$."$feature_flag"', 'beta-feature') = 'beta-feature'
     group by variant order by variant`,
  )
  t.same(
    rows.map((row) => row.map(String)),
    [
      ['control', '5', '4'],
      ['test', '5', '5'],
    ],
  )
})
