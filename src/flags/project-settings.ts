// What SDKs are told about a project besides its flags, written once for each change of the project.
//
// Settings are read when they are first asked for and again after a change (notification `project_changed`). While
// Postgres is away the last ones read go on being told, and before that the defaults, which turn nothing on.

import type { Clock } from '../lib/clock.ts'
import type { Postgres } from '../postgres/pool.ts'
import type { Log } from '../telemetry/log.ts'
import { storedReadMsMax } from './stored-reads.ts'

export interface SettingsText {
  /** Members of /decide's answer without braces: `"config":{…},…`. */
  readonly decide: string
  /** Those of remote config. */
  readonly remoteConfig: string
}

export interface ProjectSettings {
  of(projectId: number): Promise<SettingsText>
  close(): Promise<void>
}

interface Row {
  readonly autocapture_opt_out: boolean | null
  readonly autocapture_exceptions_opt_in: boolean | null
  readonly autocapture_web_vitals_opt_in: boolean | null
  readonly autocapture_web_vitals_allowed_metrics: unknown
  readonly capture_performance_opt_in: boolean | null
  readonly heatmaps_opt_in: boolean | null
  readonly flags_persistence_default: boolean | null
}

interface Entry {
  text: SettingsText
  /** They are to be read (again) from then on, monotonic ms. */
  staleMs: number
  reading: Promise<void> | null
}

export const supportedCompression: readonly string[] = ['gzip', 'gzip-js', 'lz64']

const changeChannel = 'project_changed'
/** Read again after this long in case a change was missed. */
const freshMs = 60_000
/** A read that failed is tried again after this. */
const retryMs = 1_000

/** Of a project about which nothing is known: nothing is on. */
export const defaultSettings: SettingsText = textOf({
  autocapture_opt_out: null,
  autocapture_exceptions_opt_in: null,
  autocapture_web_vitals_opt_in: null,
  autocapture_web_vitals_allowed_metrics: null,
  capture_performance_opt_in: null,
  heatmaps_opt_in: null,
  flags_persistence_default: null,
})

export function openProjectSettings(postgres: Postgres, clock: Clock, log: Log): ProjectSettings {
  const entries = new Map<number, Entry>()
  /** Notifications so far. */
  let changes = 0
  const read = async (projectId: number, entry: Entry): Promise<void> => {
    let failed = true
    const changesBefore = changes
    try {
      const row = await loadRow(postgres, projectId)
      if (row !== null) entry.text = textOf(row)
      failed = false
    } catch (error) {
      log.debug({ err: error }, 'the settings of a project were not read')
    }
    // What changed during the read may not be in it.
    entry.staleMs = changes === changesBefore ? clock.monotonicMs() + (failed ? retryMs : freshMs) : 0
    entry.reading = null
  }
  const listening = postgres.listen(changeChannel, () => {
    changes++
    for (const entry of entries.values()) entry.staleMs = 0
  })
  return {
    async of(projectId) {
      let entry = entries.get(projectId)
      const isNew = entry === undefined
      if (entry === undefined) {
        entry = { text: defaultSettings, staleMs: 0, reading: null }
        entries.set(projectId, entry)
      }
      if (clock.monotonicMs() < entry.staleMs) return entry.text
      entry.reading ??= read(projectId, entry)
      // Old settings do for a moment longer; none at all are worth a wait.
      if (isNew) await Promise.race([entry.reading, timeout(storedReadMsMax)])
      return entry.text
    },
    close: () => listening.close(),
  }
}

async function loadRow(postgres: Postgres, projectId: number): Promise<Row | null> {
  const { rows } = await postgres.query<Row>(
    `select autocapture_opt_out, autocapture_exceptions_opt_in, autocapture_web_vitals_opt_in,
       autocapture_web_vitals_allowed_metrics, capture_performance_opt_in, heatmaps_opt_in,
       flags_persistence_default
     from project where id = $1`,
    [projectId],
  )
  return rows[0] ?? null
}

/** Recordings and surveys are off, whatever a project asks for: nothing here records or shows them. */
function textOf(row: Row): SettingsText {
  const webVitals = row.autocapture_web_vitals_opt_in === true
  const both = {
    supportedCompression,
    sessionRecording: false,
    captureDeadClicks: false,
    capturePerformance:
      row.capture_performance_opt_in === true || webVitals
        ? {
            network_timing: row.capture_performance_opt_in === true,
            web_vitals: webVitals,
            web_vitals_allowed_metrics: row.autocapture_web_vitals_allowed_metrics ?? null,
          }
        : false,
    autocapture_opt_out: row.autocapture_opt_out === true,
    autocaptureExceptions: row.autocapture_exceptions_opt_in === true ? { endpoint: '/e/' } : false,
    analytics: { endpoint: '/i/v0/e/' },
    elementsChainAsString: true,
    surveys: false,
    heatmaps: row.heatmaps_opt_in === true,
    defaultIdentifiedOnly: true,
    siteApps: [],
  }
  const decide = {
    config: { enable_collect_everything: true },
    toolbarParams: {},
    isAuthenticated: false,
    ...both,
    flagsPersistenceDefault: row.flags_persistence_default === true,
  }
  const errorTracking = {
    autocaptureExceptions: row.autocapture_exceptions_opt_in === true,
    suppressionRules: [],
  }
  return { decide: membersOf(decide), remoteConfig: membersOf({ ...both, errorTracking }) }
}

/** The JSON of an object without its braces. */
function membersOf(value: object): string {
  return JSON.stringify(value).slice(1, -1)
}

function timeout(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
