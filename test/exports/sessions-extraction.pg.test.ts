import t from 'tap'
import { type RowInput, uuidOf } from '../events/make-batch.ts'
import { noonMs, openExportsWorld } from './world.ts'

/** An event of a session, `second` seconds after noon. */
function pageview(session: string, second: number, more: object = {}, event = '$pageview'): RowInput {
  return {
    uuid: uuidOf(second),
    event,
    distinctId: `visitor of ${session}`,
    timestampMicros: (noonMs + second * 1000) * 1000,
    properties: JSON.stringify({ $session_id: session, ...more }),
  }
}

t.test('a session is exported whole whenever an event of it was stored in the interval', async (t) => {
  const world = await openExportsWorld(t)
  await world.makeExport({ model: 'sessions' })
  const landing = {
    $current_url: 'https://a.example/x?gclid=1',
    $pathname: '/x',
    $host: 'a.example',
    gclid: '1',
  }
  await world.ingest({
    rows: [
      pageview('s1', 1, { ...landing, $referring_domain: '$direct', utm_source: 'news' }),
      pageview('s2', 2),
      { uuid: uuidOf(900), properties: '{"$session_id":""}' },
      { uuid: uuidOf(901), properties: '{"$session_id":null}' },
    ],
  })
  await world.ingest({ projectId: 3, rows: [pageview('s1', 3, { $pathname: '/theirs' })] })
  world.at(30)
  await world.ingest({ historical: true, rows: [pageview('s3', 40), pageview('s4', 50)] }, 'historical')
  world.at(60)
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 4, records_total_count: 4, cursor: 's4' })
  t.strictSame(world.recorder.column('session_id'), ['s1', 's2', 's3', 's4'])
  t.strictSame(
    [...world.recorder.files.values()].map(({ length }) => length),
    [3, 1],
  )
  world.recorder.files.clear()
  world.at(70)
  const outgoing = { $external_click_url: 'https://b.example' }
  await world.ingest({
    rows: [
      pageview('s1', 100, { $current_url: 'https://a.example/y', $pathname: '/y' }),
      pageview('s5', 200),
    ],
  })
  const vitals = [3000.5, 1200].map((lcp, index) =>
    pageview('s1', 70 + index, { $web_vitals_LCP_value: lcp }, '$web_vitals'),
  )
  await world.ingest({ rows: [pageview('s1', 60, outgoing, '$autocapture'), ...vitals] })
  world.at(120)
  await world.settle()
  t.strictSame(world.recorder.column('session_id'), ['s1', 's5'])
  const none = ['content', 'medium', 'campaign', 'term'].map((name) => [`entry_utm_${name}`, null])
  const noClicks = ['gad_source', 'fbclid', 'msclkid', 'dclid', 'gbraid', 'wbraid', 'ttclid', 'li_fat_id']
  t.strictSame(
    { ...[...world.recorder.files.values()][0]![0], _inserted_at: null },
    {
      session_id: 's1',
      team_id: 1,
      distinct_id: 'visitor of s1',
      start_timestamp: '2024-05-01T12:00:01.000000Z',
      end_timestamp: '2024-05-01T12:01:40.000000Z',
      session_duration: 99,
      pageview_count: 2,
      autocapture_count: 1,
      screen_count: 0,
      is_bounce: false,
      urls: [landing.$current_url, 'https://a.example/y'],
      num_uniq_urls: 2,
      channel_type: 'Paid Unknown',
      vitals_lcp: 3000.5,
      entry_current_url: landing.$current_url,
      end_current_url: 'https://a.example/y',
      entry_pathname: '/x',
      end_pathname: '/y',
      entry_hostname: 'a.example',
      end_hostname: 'a.example',
      entry_referring_domain: '$direct',
      entry_utm_source: 'news',
      ...Object.fromEntries(none),
      entry_gclid: '1',
      ...Object.fromEntries(noClicks.map((name) => [`entry_${name}`, null])),
      last_external_click_url: 'https://b.example',
      _inserted_at: null,
    },
  )
  t.match(world.recorder.column('is_bounce'), [false, true])
})
