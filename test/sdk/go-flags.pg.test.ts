// posthog-go, as published, and a project's flags: asked of the server, and evaluated by the SDK itself.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { openGate } from './gate.ts'
import { goProgram } from './program.ts'
import { defineShopFlags, freeFlags, proFlags, variantsOfUsers } from './shop-flags.ts'

const { sdk, skip, run } = goProgram()

/** Answers that are the same either way: pros, cohorted, gold and off, each with the plan pro and without. */
const common = {
  payload: '{"a": 1}',
  enabled: [true, false, true, false, true, false, false, false],
  variants: variantsOfUsers,
}

t.test(sdk, { skip }, async (t) => {
  const server = await startServer(t, { nowMs: null })
  await defineShopFlags(server)

  await t.test('asks for flags, variants and payloads', async (t) => {
    const gate = await openGate(t, server.url)
    t.same(await run('flags', server.projectApiKey, gate.url), {
      ...common,
      pro: { ...proFlags, limits: true },
      free: { ...freeFlags, limits: true },
    })
    t.equal(gate.passages.filter(({ path, query }) => path === '/flags/' && query === '?v=2').length, 21)
    t.ok(gate.passages.every(({ status }) => status === 200))
    const [called] = await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user3' })
    t.match(called?.properties, {
      $feature_flag: 'beta-feature',
      $feature_flag_response: 'test',
      $feature_flag_errored: false,
      $feature_flag_id: 1,
      $feature_flag_version: 1,
      $feature_flag_reason: 'Matched condition set 1',
      $feature_flag_request_id: /^[0-9a-f-]{36}$/,
      $lib: 'posthog-go',
    })
    const ofUser1 = await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user1' })
    t.match(
      ofUser1.map(({ properties }) => [properties.$feature_flag, properties.$feature_flag_response]),
      [
        ['pros', true],
        ['cohorted', true],
        ['gold', true],
        ['off', false],
        ['beta-feature', 'test'],
      ],
      'it tells the first answer only',
    )
    t.equal(ofUser1[2]?.properties.$group_0, 'acme')
  })

  await t.test('evaluates by itself what the server would', async (t) => {
    const gate = await openGate(t, server.url)
    // It knows no flags on flags, and asks the server for them where it may.
    const { 'after-pros': _pro, ...pro } = proFlags
    const { 'after-pros': _free, ...free } = freeFlags
    t.same(await run('flags', server.projectApiKey, gate.url, server.personalApiKey), {
      ...common,
      remote_config: '{"limit": 5}',
      pro: { ...pro, off: false },
      free: { ...free, off: false },
      asked: { ...proFlags, limits: true, off: false },
    })
    const asked = gate.passages.map(({ path, query, status }) => `${path}${query} ${status}`).sort()
    const definitions = '/api/feature_flag/local_evaluation?send_cohorts=true&token=phc_test_project 200'
    t.same(asked, [
      definitions,
      definitions,
      '/api/projects/@current/feature_flags/limits/remote_config/ 200',
      '/batch/ 200',
      '/flags/?v=2 200', // for after-pros
      '/flags/?v=2 200', // for the flags of the purchase
    ])
    const [, called] = await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user3' })
    t.match(called?.properties, { $feature_flag: 'beta-feature', $feature_flag_response: 'test' })
    const [purchase] = await server.storedEvents({ event: 'purchase' })
    t.match(purchase?.properties, { '$feature/beta-feature': 'test', '$feature/pros': false })
    t.same(Array.from(purchase?.properties.$active_feature_flags as string[]).sort(), [
      'after-pros',
      'beta-feature',
      'cohorted',
      'gold',
      'limits',
      'pros',
    ])
  })
})
