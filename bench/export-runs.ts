// Exports of everything that a server holds, as a scenario starts and follows them: over the API into an S3 server of
// the bench's own, and by the run's row in the server's Postgres, since a personal key may not ask often enough.

import { openPostgres, type Postgres } from '../src/postgres/pool.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { type OwnS3Server, openS3, s3Bucket, s3Keys } from '../test/support/s3.ts'
import type { ServerProcess } from './server-process.ts'
import { waitFor } from './wait.ts'

/** A server that may call an S3 server on this machine. */
export const exportSettings = { OUTBOUND_ALLOW: '127.0.0.1' }

export interface RunReport {
  /** Its objects are below `<prefix>/`. */
  readonly prefix: string
  readonly status: string
  readonly latestError: string | null
  readonly records: number
  readonly bytes: number
  /** From its start to its end, by the server's clock. */
  readonly seconds: number
  /** What it takes: see src/exports/boundary.ts. */
  readonly stretchEnd: string
}

interface RunRow {
  readonly id: string
  readonly status: string
  readonly latest_error: string | null
  readonly records_completed: string | null
  readonly bytes_exported: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly stretch_end: string
}

const runMsMax = 3_600_000
/** Asking takes less than a millisecond of the server's Postgres. */
const pollMs = 200

export class ExportRuns {
  readonly s3: OwnS3Server
  readonly #server: ServerProcess
  readonly #postgres: Postgres
  #count = 0

  private constructor(server: ServerProcess, postgres: Postgres, s3: OwnS3Server) {
    this.#server = server
    this.#postgres = postgres
    this.s3 = s3
  }

  static async open(server: ServerProcess): Promise<ExportRuns> {
    const postgres = openPostgres({ connectionString: await server.databaseUrl(), log })
    return new ExportRuns(server, postgres, await openS3())
  }

  /** Exports all there is as Parquet; once `isOver` says so, the run is cancelled. */
  async exportAll(isOver: () => boolean = () => false): Promise<RunReport> {
    const prefix = `export-${this.#count++}`
    const path = `/api/projects/${this.#server.projectId}/batch_exports/`
    const place = { bucket_name: s3Bucket, region: 'us-east-1', prefix, endpoint_url: this.s3.endpoint }
    const format = { file_format: 'Parquet', compression: 'zstd', max_file_size_mb: 128 }
    const destination = { type: 'S3', config: { ...place, ...format, ...s3Keys } }
    const made = await postTo(this.#server, path, {
      name: prefix,
      interval: 'hour',
      paused: true,
      destination,
    })
    const span = { start_at: null, end_at: new Date().toISOString() }
    await postTo(this.#server, `${path}${made.id}/backfills/`, span)
    let isCancelled = false
    const run = await waitFor(
      `the export ${prefix}`,
      runMsMax,
      async () => {
        const row = await this.#runOf(made.id)
        if (row !== null && row.finished_at === null && isOver() && !isCancelled) {
          isCancelled = true
          await postTo(this.#server, `${path}${made.id}/runs/${row.id}/cancel/`, {})
        }
        return row?.finished_at == null ? null : row
      },
      pollMs,
    )
    return {
      prefix,
      status: run.status,
      latestError: run.latest_error,
      records: Number(run.records_completed),
      bytes: Number(run.bytes_exported),
      seconds: (Date.parse(run.finished_at ?? '') - Date.parse(run.started_at ?? '')) / 1000,
      stretchEnd: run.stretch_end,
    }
  }

  async close(): Promise<void> {
    await this.#postgres.close()
    await this.s3.close()
  }

  async #runOf(exportId: string): Promise<RunRow | null> {
    const { rows } = await this.#postgres.query<RunRow>(
      `select id, status, latest_error, records_completed, bytes_exported, started_at, finished_at, stretch_end
       from batch_export_run where batch_export_id = $1`,
      [exportId],
    )
    return rows[0] ?? null
  }
}

/** Asks the management API of a server for something new. */
export async function postTo(
  { port, personalApiKey }: Pick<ServerProcess, 'port' | 'personalApiKey'>,
  path: string,
  body: object,
): Promise<{ readonly id: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${personalApiKey}` },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: string } // as management answers
}
