import t from 'tap'
import type { EventsState } from '../../src/events/progress.ts'
import type { JournalState, LaneState, Position } from '../../src/journal/journal.ts'
import type { PersonsState } from '../../src/persons/client.ts'
import { openMetrics } from '../../src/telemetry/metrics.ts'

const lane: LaneState = {
  oldest: 0 as Position,
  committed: 900 as Position,
  queuedBytes: 11,
  storedBytes: 1000,
  damagedBytes: 0,
  isFull: false,
  commitCount: 4,
  commitMsTotal: 1500,
}
const journal: JournalState = {
  epoch: 'e',
  lanes: { realtime: lane, historical: { ...lane, queuedBytes: 12 } },
}
const events: EventsState = {
  isReady: true,
  reason: null,
  applied: { realtime: 800 as Position, historical: 900 as Position },
  checkpointed: null,
  lagBytes: { realtime: 100, historical: 0 },
  counts: { events: 5, duplicates: 1, quarantined: 2 },
  lastTransaction: { rows: 20, ms: 250 },
}

const persons: PersonsState = {
  reason: null,
  quarantined: 3,
  spiking: 4,
  lastTransaction: { events: 30, ms: 125 },
  applied: { realtime: 700 as Position, historical: 900 as Position },
  changes: null,
  lagBytes: { realtime: 200, historical: 0 },
}

function opened() {
  return openMetrics({
    journal: () => journal,
    events: () => events,
    persons: () => persons,
    mirror: () => ({ waiting: 15, reason: null }),
    exports: () => ({
      running: 16,
      records: 17,
      bytes: 18,
      setbacks: 19,
      closed: { Failed: 20 },
      reason: null,
    }),
    decodeQueueBytes: () => 13,
    openBodyBytes: () => 14,
    openRequests: () => 1,
  })
}

t.test('counts captured events by lane, and drops and warnings by reason', async (t) => {
  const metrics = opened()
  const sample = { event: 'e', distinctId: 'u', detail: '' }
  metrics.captured({
    projectId: 7,
    eventCount: 3,
    duplicateCount: 1,
    historical: false,
    end: null,
    identityBornIds: new Uint8Array(0),
    decompressedBytes: 500,
    drops: [{ reason: 'distinct_id_missing', count: 2, sample }],
    warnings: [{ reason: 'timestamp_unparseable', count: 1, sample }],
  })
  const text = await metrics.text()
  t.match(text, 'spate_events_accepted_total{lane="realtime"} 3\n')
  t.match(text, 'spate_events_duplicate_total 1\n')
  t.match(text, 'spate_events_dropped_total{reason="distinct_id_missing"} 2\n')
  t.match(text, 'spate_events_warned_total{reason="timestamp_unparseable"} 1\n')
  t.match(text, 'spate_capture_decompressed_bytes_total 500\n')
})

t.test('counts replies by the template of their route, not by their path', async (t) => {
  const metrics = opened()
  metrics.replied('/api/projects/:project_id/events', 'GET', 200, 12, 0)
  const text = await metrics.text()
  t.match(
    text,
    'spate_http_requests_total{route="/api/projects/:project_id/events",method="GET",status="200"} 1\n',
  )
  t.match(text, 'spate_http_request_seconds_count{route="/api/projects/:project_id/events"} 1\n')
})

t.test('counts how late the main thread came', async (t) => {
  const metrics = opened()
  for (const ms of [0, 10, 10.5, 3000]) metrics.late(ms, ms / 2)
  const text = await metrics.text()
  t.match(text, 'spate_event_loop_delay_seconds_bucket{le="0.01"} 2\n')
  t.match(text, 'spate_event_loop_delay_seconds_bucket{le="0.02"} 3\n')
  t.match(text, 'spate_event_loop_delay_seconds_count 4\n')
  t.match(text, 'spate_event_loop_work_seconds_bucket{le="0.01"} 3\n')
})

t.test('shows queues, lag and transactions as they are when asked', async (t) => {
  const text = await opened().text()
  t.match(text, 'spate_journal_queue_bytes{lane="historical"} 12\n')
  t.match(text, 'spate_events_lag_bytes{lane="realtime"} 100\n')
  t.match(text, 'spate_decode_queue_bytes 13\n')
  t.match(text, 'spate_journal_commits_total{lane="realtime"} 4\n')
  t.match(text, 'spate_journal_commit_seconds_total{lane="realtime"} 1.5\n')
  t.match(text, 'spate_http_body_bytes 14\n')
  t.match(text, 'spate_events_transaction_rows 20\n')
  t.match(text, 'spate_events_transaction_seconds 0.25\n')
  t.match(text, 'spate_events_quarantined 2\n')
  t.match(text, 'spate_persons_lag_bytes{lane="realtime"} 200\n')
  t.match(text, 'spate_persons_transaction_events 30\n')
  t.match(text, 'spate_persons_transaction_seconds 0.125\n')
  t.match(text, 'spate_persons_quarantined 3\n')
  t.match(text, 'spate_spike_events 4\n')
  t.match(text, 'spate_mirror_waiting_changes 15\n')
  t.match(text, 'spate_exports_running 16\n')
  t.match(text, 'spate_exports_records_total 17\n')
  t.match(text, 'spate_exports_bytes_total 18\n')
  t.match(text, 'spate_exports_setbacks_total 19\n')
  t.match(text, 'spate_exports_runs_total{status="Failed"} 20\n')
})
