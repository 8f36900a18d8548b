// posthog-python, as published, and a project's flags: asked of the server, and evaluated by the SDK itself.

import t from 'tap'
import { startServer } from '../support/server.ts'
import { openGate } from './gate.ts'
import { pythonProgram } from './program.ts'
import { defineShopFlags, freeFlags, proFlags, variantsOfUsers } from './shop-flags.ts'

const { sdk, skip, run } = pythonProgram()

const common = {
  payload: { a: 1 },
  variants: variantsOfUsers,
  snapshot: ['test', true],
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
      payloads: { 'beta-feature': '{"a": 1}', pros: '["x"]', limits: '{"limit": 5}' },
      // pros, cohorted, gold of the one and the other; a flag that is off is not there
      enabled: [true, false, true, false, true, false, null, null],
    })
    const asked = gate.passages.filter(({ path }) => path === '/flags/')
    t.equal(asked.length, 23)
    t.ok(gate.passages.every(({ status }) => status === 200))

    const called = await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user3' })
    t.match(
      called.map((row) => row.properties),
      [
        {
          $feature_flag: 'beta-feature',
          $feature_flag_response: 'test',
          $feature_flag_payload: { a: 1 },
          $feature_flag_id: 1,
          $feature_flag_version: 1,
          $feature_flag_reason: 'Matched condition set 1',
          $feature_flag_request_id: /^[0-9a-f-]{36}$/,
          $feature_flag_evaluated_at: Number,
          '$feature/beta-feature': 'test',
          locally_evaluated: false,
          $lib: 'posthog-python',
        },
        { $feature_flag: 'beta-feature', $groups: { company: 'acme' }, $group_0: 'acme' },
        { $feature_flag: 'gold', $feature_flag_response: true, $groups: { company: 'acme' } },
      ],
    )
    const [purchase] = await server.storedEvents({ event: 'purchase' })
    t.match(purchase?.properties, {
      price: 3,
      '$feature/beta-feature': 'test',
      '$feature/cohorted': true,
      $active_feature_flags: ['after-pros', 'beta-feature', 'cohorted', 'gold', 'limits', 'pros'],
    })
    const ofUser1 = await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user1' })
    const off = ofUser1.find(({ properties }) => properties.$feature_flag === 'off')
    t.match(off?.properties, {
      $feature_flag: 'off',
      $feature_flag_response: null,
      $feature_flag_error: 'flag_missing',
    })
    const warnings = await server.get('/api/projects/@current/ingestion_warnings/')
    t.notMatch(warnings.text, '$feature_flag_called', 'a flag without a value is nothing to warn of')
  })

  await t.test('evaluates by itself what the server would', async (t) => {
    const gate = await openGate(t, server.url)
    t.same(await run('flags', server.projectApiKey, gate.url, server.personalApiKey), {
      ...common,
      remote_config: '{"limit": 5}',
      pro: { ...proFlags, off: false },
      free: { ...freeFlags, off: false },
      payloads: { 'beta-feature': '{"a": 1}', pros: '["x"]' },
      enabled: [true, false, true, false, true, false, false, false],
    })
    const query = '?token=phc_test_project'
    t.same(
      gate.passages.map((passage) => [passage.path, passage.query, passage.status]),
      [
        ['/flags/definitions', `${query}&send_cohorts`, 200],
        ['/flags/definitions', `${query}&send_cohorts`, 304], // by its ETag
        ['/api/projects/@current/feature_flags/limits/remote_config', query, 200],
        ['/batch/', '', 200],
      ],
      'the server was not asked for values',
    )
    const called = await server.storedEvents({ event: '$feature_flag_called', distinct_id: 'user3' })
    t.match(called[3]?.properties, {
      $feature_flag: 'beta-feature',
      $feature_flag_response: 'test',
      $feature_flag_payload: { a: 1 },
      $feature_flag_id: 1,
      $feature_flag_version: 1,
      locally_evaluated: true,
    })
    const [, purchase] = await server.storedEvents({ event: 'purchase' })
    t.match(purchase?.properties, { '$feature/beta-feature': 'test', '$feature/off': false })
  })
})
