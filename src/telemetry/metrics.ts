// Metrics in Prometheus text. Counters are told by the rooms once a request; what a room already knows (queues, lag,
// sizes) is asked of it when /metrics is read.

import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { CaptureReport } from '../capture/capture-append.ts'
import type { EventsState } from '../events/progress.ts'
import type { ExportsState } from '../exports/exports.ts'
import { type JournalState, type Lane, lanes } from '../journal/journal.ts'
import type { MirrorProgress } from '../mirror/mirror.ts'
import type { PersonsState } from '../persons/client.ts'
import { Replies } from './replies.ts'

/** What is read at the moment /metrics is asked for. */
export interface MetricSources {
  journal(): JournalState
  events(): EventsState
  persons(): PersonsState
  mirror(): MirrorProgress
  exports(): ExportsState
  decodeQueueBytes(): number
  openBodyBytes(): number
  openRequests(): number
}

export interface Metrics {
  captured(report: CaptureReport): void
  /** One answered request. `path` is the route's template, so that labels stay few. */
  replied(path: string, method: string, status: number, ms: number, bytesIn: number): void
  /** The main thread came so late to what was due, and so late without what it waited for a processor. */
  late(ms: number, workedMs: number): void
  /** All metrics as text. */
  text(): Promise<string>
  readonly contentType: string
}

export function openMetrics(sources: MetricSources): Metrics {
  const registers = [new Registry()]
  const registry = registers[0] as Registry // the list above has one
  // Of every request, and so plain numbers until somebody asks (replies.ts).
  const acceptedEvents: Record<Lane, number> = { realtime: 0, historical: 0 }
  let decompressedBytes = 0
  new Counter({
    name: 'spate_events_accepted_total',
    help: 'Events made durable.',
    labelNames: ['lane'],
    registers,
    collect() {
      this.reset()
      for (const lane of lanes) this.inc({ lane }, acceptedEvents[lane])
    },
  })
  const duplicates = new Counter({
    name: 'spate_events_duplicate_total',
    help: 'Events recognised as retries.',
    registers,
  })
  const dropped = new Counter({
    name: 'spate_events_dropped_total',
    help: 'Events of valid requests that were not ingested.',
    labelNames: ['reason'],
    registers,
  })
  const warned = new Counter({
    name: 'spate_events_warned_total',
    help: 'Events ingested with a warning.',
    labelNames: ['reason'],
    registers,
  })
  new Counter({
    name: 'spate_capture_decompressed_bytes_total',
    help: 'Bytes of captured bodies after decompression.',
    registers,
    collect() {
      this.reset()
      this.inc(decompressedBytes)
    },
  })
  const replies = new Replies()
  addGauges(registry, sources)
  return {
    captured(report) {
      acceptedEvents[report.historical ? 'historical' : 'realtime'] += report.eventCount
      decompressedBytes += report.decompressedBytes
      if (report.duplicateCount > 0) duplicates.inc(report.duplicateCount)
      for (const { reason, count } of report.drops) dropped.inc({ reason }, count)
      for (const { reason, count } of report.warnings) warned.inc({ reason }, count)
    },
    late: openLoopDelays(registers),
    replied: (...reply) => replies.count(...reply),
    text: async () => `${await registry.metrics()}\n${replies.text()}`,
    contentType: registry.contentType,
  }
}

function openLoopDelays(registers: Registry[]): Metrics['late'] {
  const buckets = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]
  const delay = new Histogram({
    name: 'spate_event_loop_delay_seconds',
    help: 'How late the main thread came to what was due, looked at every 10 ms.',
    buckets,
    registers,
  })
  const work = new Histogram({
    name: 'spate_event_loop_work_seconds',
    help: 'The same without what the thread waited for a processor, where the system tells (Linux).',
    buckets,
    registers,
  })
  return (ms, workedMs) => {
    delay.observe(ms / 1000)
    work.observe(workedMs / 1000)
  }
}

/** Values that are asked for when the metrics are read. */
function addGauges(registry: Registry, sources: MetricSources): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read())
      },
    })
  }
  gauge('spate_decode_queue_bytes', 'Bodies that wait to be decoded.', sources.decodeQueueBytes)
  gauge('spate_http_body_bytes', 'Memory held for request bodies.', sources.openBodyBytes)
  gauge('spate_http_open_requests', 'Requests that are not answered yet.', sources.openRequests)
  gauge('spate_events_transaction_rows', 'Rows of the last transaction of the events store.', () =>
    Number(sources.events().lastTransaction?.rows ?? 0),
  )
  gauge(
    'spate_events_transaction_seconds',
    'Time of the last transaction of the events store.',
    () => Number(sources.events().lastTransaction?.ms ?? 0) / 1000,
  )
  gauge(
    'spate_events_quarantined',
    'Events that could not be stored and were set aside.',
    () => sources.events().counts.quarantined,
  )
  gauge('spate_persons_transaction_events', 'Events of the last transaction of the persons.', () =>
    Number(sources.persons().lastTransaction?.events ?? 0),
  )
  gauge(
    'spate_persons_transaction_seconds',
    'Time of the last transaction of the persons.',
    () => Number(sources.persons().lastTransaction?.ms ?? 0) / 1000,
  )
  gauge(
    'spate_persons_quarantined',
    'Events that could not be applied to persons and were set aside since the start.',
    () => sources.persons().quarantined,
  )
  gauge(
    'spate_spike_events',
    'Realtime events beyond SPIKE_EVENTS_PER_SECOND of one distinct_id since the start.',
    () => sources.persons().spiking,
  )
  gauge(
    'spate_mirror_waiting_changes',
    'Changes of persons and kinds of groups that reads of events do not see yet.',
    () => sources.mirror().waiting,
  )
  addExportGauges(registers, gauge, sources)
  addLaneGauges(registers, sources)
}

function addExportGauges(
  registers: Registry[],
  gauge: (name: string, help: string, read: () => number) => void,
  sources: MetricSources,
): void {
  gauge('spate_exports_running', 'Runs of batch exports that are worked on.', () => sources.exports().running)
  gauge(
    'spate_exports_records_total',
    'Records that completed runs of batch exports have delivered since the start.',
    () => sources.exports().records,
  )
  gauge(
    'spate_exports_bytes_total',
    'Bytes that completed runs of batch exports have delivered since the start.',
    () => sources.exports().bytes,
  )
  gauge(
    'spate_exports_setbacks_total',
    'Attempts at runs of batch exports that have failed since the start.',
    () => sources.exports().setbacks,
  )
  new Gauge({
    name: 'spate_exports_runs_total',
    help: 'Runs of batch exports that have ended since the start.',
    labelNames: ['status'],
    registers,
    collect() {
      for (const [status, count] of Object.entries(sources.exports().closed)) this.set({ status }, count)
    },
  })
}

function addLaneGauges(registers: Registry[], sources: MetricSources): void {
  laneGauge(
    registers,
    'spate_journal_queue_bytes',
    'Bytes handed to the journal and not yet on disk.',
    (lane) => sources.journal().lanes[lane].queuedBytes,
  )
  laneGauge(
    registers,
    'spate_journal_stored_bytes',
    'Bytes of journal on disk.',
    (lane) => sources.journal().lanes[lane].storedBytes,
  )
  laneGauge(
    registers,
    'spate_journal_damaged_bytes',
    'Bytes of journal found damaged and set aside.',
    (lane) => sources.journal().lanes[lane].damagedBytes,
  )
  laneGauge(
    registers,
    'spate_journal_commits_total',
    'Groups of requests written and synced.',
    (lane) => sources.journal().lanes[lane].commitCount,
  )
  laneGauge(
    registers,
    'spate_journal_commit_seconds_total',
    'Time spent writing and syncing; divided by the commits, what a sync takes.',
    (lane) => sources.journal().lanes[lane].commitMsTotal / 1000,
  )
  laneGauge(
    registers,
    'spate_events_lag_bytes',
    'Bytes of journal that the events store has not applied.',
    (lane) => sources.events().lagBytes[lane],
  )
  laneGauge(
    registers,
    'spate_persons_lag_bytes',
    'Bytes of journal that the persons have not applied.',
    (lane) => sources.persons().lagBytes[lane],
  )
}

function laneGauge(registers: Registry[], name: string, help: string, read: (lane: Lane) => number): void {
  new Gauge({
    name,
    help,
    labelNames: ['lane'],
    registers,
    collect() {
      for (const lane of lanes) this.set({ lane }, read(lane))
    },
  })
}
