// Where kill cycles export to, and what becomes of it: an S3 server and a Postgres that live while the server is
// killed. A round is an export to each of them of everything that is stored when it begins.

import { openPostgres, type Postgres } from '../src/postgres/pool.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { openPostgresFront } from '../test/support/postgres-front.ts'
import { type OwnS3Server, openS3, s3Bucket, s3Keys } from '../test/support/s3.ts'
import { type ArrivedVerdict, judgeArrived, judgeTable } from './export-arrived.ts'
import { postTo } from './export-runs.ts'
import type { ServerProcess } from './server-process.ts'
import { waitFor } from './wait.ts'

export interface RoundRun {
  readonly name: string
  readonly type: 'S3' | 'Postgres'
  readonly status: string
  readonly latest_error: string | null
  readonly finished_at: string | null
  readonly records_completed: number | null
  readonly stretch_end: string
  readonly chunks: number
}

const readyMsMax = 30_000

type Front = Awaited<ReturnType<typeof openPostgresFront>>

export class ExportTargets {
  readonly #s3: OwnS3Server
  readonly #postgres: Postgres
  readonly #front: Front

  private constructor(s3: OwnS3Server, postgres: Postgres, front: Front) {
    this.#s3 = s3
    this.#postgres = postgres
    this.#front = front
  }

  /** `databaseUrl` is also the server's own: runs are read there. */
  static async open(databaseUrl: string): Promise<ExportTargets> {
    const front = await openPostgresFront(databaseUrl)
    return new ExportTargets(await openS3(), openPostgres({ connectionString: databaseUrl, log }), front)
  }

  async begin(server: ServerProcess, round: string): Promise<void> {
    await this.#postgres.query(`create schema ${round}`)
    const path = `/api/projects/${server.projectId}/batch_exports/`
    const bucket = {
      bucket_name: s3Bucket,
      region: 'us-east-1',
      prefix: round,
      endpoint_url: this.#s3.endpoint,
    }
    const format = { file_format: 'Parquet', compression: 'zstd', max_file_size_mb: 4 }
    const place = { host: '127.0.0.1', port: this.#front.port, database: 'spate', schema: round }
    const destinations = [
      { type: 'S3', config: { ...bucket, ...format, ...s3Keys } },
      { type: 'Postgres', config: { ...place, user: 'spate', password: 'any' } },
    ]
    for (const destination of destinations) {
      const made = await postTo(server, path, { name: round, interval: 'hour', paused: true, destination })
      const span = { start_at: null, end_at: new Date().toISOString() }
      // A server that has just started accepts events before it can look at what is stored, and before anything is.
      await waitFor('a backfill is taken', readyMsMax, () =>
        postTo(server, `${path}${made.id}/backfills/`, span).catch((error: Error) => {
          if (/: 503 |There is no data/.test(error.message)) return null
          throw error
        }),
      )
    }
  }

  /** The runs of a round, or of all. */
  async runs(round: string | null = null): Promise<RoundRun[]> {
    const { rows } = await this.#postgres.query<RoundRun>(
      `select name, destination_type as type, status, latest_error, finished_at, records_completed, stretch_end,
         (select count(*) from batch_export_chunk where run_id = run.id) as chunks
       from batch_export_run run join batch_export on batch_export.id = batch_export_id
       where name = coalesce($1, name) order by run.created_at, run.id`,
      [round],
    )
    return rows
  }

  /** Compares what a run has brought with the store of a server that has ended. */
  async judge(
    place: { readonly dataDir: string; readonly folder: string },
    { name, type, stretch_end: stretchEnd }: RoundRun,
  ): Promise<ArrivedVerdict> {
    if (type === 'S3') return judgeArrived(place, this.#s3, { prefix: name, stretchEnd })
    const { rows } = await this.#postgres.query(
      `select uuid, event, distinct_id, (extract(epoch from timestamp) * 1000000)::bigint as micros, elements_chain
       from ${name}.events`,
    )
    return judgeTable(place, rows.map((row) => `${JSON.stringify(row)}\n`).join(''), stretchEnd)
  }

  async close(): Promise<void> {
    await this.#postgres.close()
    this.#front.close()
    await this.#s3.close()
  }
}
