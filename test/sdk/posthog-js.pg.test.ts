// posthog-js, as published, in a real browser: every event the page sends is stored once and as it was sent.

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { StoredEvent } from '../support/client.ts'
import { startServer } from '../support/server.ts'
import { until } from '../support/until.ts'
import { noBrowser, openBrowser, servePage } from './browser.ts'
import { type Gate, openGate, type SentEvent } from './gate.ts'

const skip = noBrowser()
if (skip) t.comment(`skipped: ${skip}`)

const versions = { 'posthog-js': '1.400.0', 'posthog-js-1200': '1.200.0' }

/** Properties that are stored elsewhere, merged with others, or left out because they are the default. */
const changedKeys = ['$elements', '$elements_chain', '$set', '$set_once', '$process_person_profile']

function sent(gate: Gate): SentEvent[] {
  return gate.captures().flatMap((passage) => passage.events)
}

function sentNames(gate: Gate): string[] {
  return sent(gate).map((event) => event.event)
}

async function waitFor(gate: Gate, ...names: string[]): Promise<void> {
  await until(() => names.every((name) => sentNames(gate).includes(name)))
}

/** What a visitor does: looks, clicks, signs in, joins a company, and leaves. */
async function visit(page: Page, address: string, gate: Gate): Promise<void> {
  await page.goto(address)
  await page.waitForFunction('posthog.autocapture?.isEnabled')
  await page.evaluate(`posthog.capture('looked', { n: 1, text: 'ü 🦔' })`)
  await page.click('#buy')
  await page.evaluate(`posthog.identify('visitor-1', { plan: 'pro' }, { first: 'shop' })`)
  await page.evaluate(`posthog.group('company', 'acme', { seats: 7 })`)
  await page.evaluate(`posthog.capture('bought')`)
  await waitFor(gate, '$pageview', 'looked', '$autocapture', '$identify', '$groupidentify', 'bought')
  await page.evaluate(`posthog.capture('leaving')`)
  await page.goto('about:blank') // whatever still waits is sent as a beacon
  await waitFor(gate, 'leaving', '$pageleave')
}

function sameAsSent(t: Test, gate: Gate, rows: readonly StoredEvent[], sinceMs: number): void {
  const stored = new Map(rows.map((row) => [row.id, row]))
  // A page that waits too long for an answer sends again.
  const uuids = new Set(sent(gate).map((event) => event.uuid))
  t.equal(rows.length, uuids.size, 'as many rows as events')
  for (const event of sent(gate)) {
    const row = stored.get(event.uuid)
    const kept = Object.entries(event.properties).filter(([key]) => !changedKeys.includes(key))
    t.equal(row?.event, event.event)
    t.equal(row?.distinct_id, event.properties.distinct_id, event.event)
    t.match(row?.properties, Object.fromEntries(kept), event.event)
    const atMs = Date.parse(row?.timestamp ?? '')
    t.ok(atMs > sinceMs - 2000 && atMs < Date.now() + 2000, `${event.event} happened during the visit`)
  }
}

for (const [packageName, version] of Object.entries(versions)) {
  t.test(`what a page with posthog-js ${version} sends is stored once (case 109)`, { skip }, async (t) => {
    const server = await startServer(t, { nowMs: null })
    const gate = await openGate(t, server.url)
    const browser = await openBrowser(t)
    const address = await servePage(t, packageName, {
      api_host: gate.url,
      opt_out_useragent_filter: true,
      person_profiles: 'always',
      disable_session_recording: true,
    })
    const page = await browser.newPage()
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(error.message))
    const sinceMs = Date.now()
    await visit(page, address, gate)
    t.same(errors, [], 'the page saw no error')
    t.ok(
      gate
        .captures()
        .every(({ status, query }) => status === 200 || (status === 204 && /beacon=1/.test(query))),
      'every request was taken',
    )

    await server.settled()
    const anonymousId = String(sent(gate)[0]?.properties.distinct_id)
    const before = await server.storedEvents({ distinct_id: anonymousId })
    const after = await server.storedEvents({ distinct_id: 'visitor-1' })
    sameAsSent(t, gate, [...before, ...after], sinceMs)
    const byName = new Map([...before, ...after].map((row) => [row.event, row]))
    t.match(byName.get('$pageview')?.properties, {
      $current_url: address,
      $lib: 'web',
      $lib_version: version,
    })
    t.match(byName.get('looked')?.properties, { n: 1, text: 'ü 🦔' })
    t.match(byName.get('$autocapture'), {
      distinct_id: anonymousId,
      properties: { $event_type: 'click' },
      elements_chain: /^button\.big\.red:(?=.*text="Buy now")(?=.*attr__data-plan="pro").*;body:/,
    })
    t.match(byName.get('$identify'), {
      distinct_id: 'visitor-1',
      properties: { $anon_distinct_id: anonymousId, $set: { plan: 'pro' }, $set_once: { first: 'shop' } },
    })
    t.match(byName.get('$groupidentify')?.properties, { $group_key: 'acme', $group_set: { seats: 7 } })
    t.match(byName.get('bought')?.properties, { $groups: { company: 'acme' } })
    t.equal(byName.get('leaving')?.distinct_id, 'visitor-1')
    t.equal(byName.get('$pageleave')?.distinct_id, 'visitor-1')
  })
}
