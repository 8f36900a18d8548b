// posthog-js, as published, in a real browser, and a project's flags: what a page is told, what it says about itself,
// and what it opts into.

import type { Page } from 'playwright-core'
import t from 'tap'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { noBrowser, openBrowser, servePage } from './browser.ts'
import { openGate } from './gate.ts'
import { define, defineShopFlags, variantsOfUsers } from './shop-flags.ts'

const skip = noBrowser()
if (skip) t.comment(`skipped: ${skip}`)

const versions = { 'posthog-js': '1.400.0', 'posthog-js-1200': '1.200.0' }

/** What the page has been told; read anew each time, since flags arrive by themselves. */
function flagIn(page: Page, key: string): Promise<unknown> {
  return page.evaluate(`posthog.getFeatureFlag(${JSON.stringify(key)}, { send_event: false })`)
}

async function becomes(page: Page, key: string, value: unknown): Promise<void> {
  await until(async () => (await flagIn(page, key)) === value)
}

for (const [packageName, version] of Object.entries(versions)) {
  t.test(`a page with posthog-js ${version} has its flags and opts into features`, { skip }, async (t) => {
    const server = await startServer(t, { nowMs: null })
    await defineShopFlags(server)
    await define(server, 'early_access_feature', {
      name: 'New builder',
      description: 'Try it',
      stage: 'beta',
      documentation_url: 'https://docs.example/builder',
    })
    await define(server, 'early_access_feature', { name: 'Not yet', stage: 'draft' })
    const gate = await openGate(t, server.url)
    const browser = await openBrowser(t)
    const address = await servePage(t, packageName, {
      api_host: gate.url,
      opt_out_useragent_filter: true,
      person_profiles: 'always',
      disable_session_recording: true,
      bootstrap: { distinctID: 'user1', isIdentifiedID: true, featureFlags: { bootstrapped: 'yes' } },
      advanced_disable_feature_flags_on_first_load: true,
      feature_flag_request_timeout_ms: 20_000,
    })
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    await page.goto(address)
    t.equal(await flagIn(page, 'bootstrapped'), 'yes', 'until the server is asked')
    await page.evaluate('posthog.reloadFeatureFlags()')
    await becomes(page, 'beta-feature', variantsOfUsers.user1)
    t.equal(await flagIn(page, 'pros'), false)
    t.equal(await flagIn(page, 'off'), undefined)
    t.same(await page.evaluate(`posthog.getFeatureFlagPayload('beta-feature')`), { a: 1 })

    await page.evaluate(`posthog.setPersonPropertiesForFlags({ plan: 'pro' })`)
    await becomes(page, 'pros', true)
    t.equal(await flagIn(page, 'after-pros'), true)
    t.equal(await flagIn(page, 'cohorted'), true)
    await page.evaluate(`posthog.group('company', 'acme')`)
    await page.evaluate(`posthog.setGroupPropertiesForFlags({ company: { tier: 'gold' } })`)
    await becomes(page, 'gold', true)

    const features = await page.evaluate(
      `new Promise((resolve) => posthog.getEarlyAccessFeatures(resolve, true))`,
    )
    t.match(features, [
      {
        name: 'New builder',
        description: 'Try it',
        stage: 'beta',
        documentationUrl: 'https://docs.example/builder',
        flagKey: 'new-builder',
      },
    ])
    t.equal((features as unknown[]).length, 1, 'a draft is nobody else’s business') // a list, as just matched
    t.equal(await flagIn(page, 'new-builder'), false)
    await page.evaluate(`posthog.updateEarlyAccessFeatureEnrollment('new-builder', true)`)
    t.equal(await flagIn(page, 'new-builder'), true, 'at once')
    await page.evaluate(`posthog.capture('bought')`)
    const called = `posthog.getFeatureFlag('beta-feature')`
    t.equal(await page.evaluate(called), 'test')
    const names = (): string[] => gate.captures().flatMap(({ events }) => events.map(({ event }) => event))
    await until(() =>
      ['$feature_enrollment_update', '$feature_flag_called', 'bought'].every((name) =>
        names().includes(name),
      ),
    )
    t.same(errors, [], 'the page saw no error')

    const stored = await server.storedEvents({ distinct_id: 'user1' })
    const byName = new Map(stored.map((row) => [row.event, row.properties]))
    t.match(byName.get('$feature_flag_called'), {
      $feature_flag: 'beta-feature',
      $feature_flag_response: 'test',
      '$feature/beta-feature': 'test',
    })
    t.match(byName.get('bought'), { '$feature/beta-feature': 'test', '$feature/pros': true })
    t.match(byName.get('$feature_enrollment_update'), {
      $feature_flag: 'new-builder',
      $feature_enrollment: true,
      $set: { '$feature_enrollment/new-builder': true },
    })

    // Stored with the person: another device of theirs has the feature, and opting out takes it back.
    const values = async (): Promise<Record<string, unknown>> => {
      const reply = await server.post('/decide?v=3', { api_key: server.projectApiKey, distinct_id: 'user1' })
      return JSON.parse(reply.text).featureFlags
    }
    t.equal((await values())['new-builder'], true)
    await page.evaluate(`posthog.updateEarlyAccessFeatureEnrollment('new-builder', false)`)
    t.equal(await flagIn(page, 'new-builder'), false)
    await until(async () => (await values())['new-builder'] === false)
    t.ok(
      gate.passages
        .filter(({ path }) => /^\/(flags|decide)\//.test(path))
        .every(({ status }) => status === 200),
      'every request for flags was answered',
    )
  })
}
