// Destinations without room, in the middle of what they are given: the run says so, waits, and goes on when there is
// room.

import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { builtDestinations } from '../../src/exports/built-destinations.ts'
import { httpDestinationWith } from '../../src/exports/http-destination.ts'
import { postLimits } from '../../src/exports/http-post.ts'
import { type RowInput, uuidOf } from '../events/make-batch.ts'
import { rowsOf } from '../support/cluster.ts'
import { listenFor } from '../support/listen.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'
import { s3Bucket, s3Keys, s3Refusal, startS3 } from '../support/s3.ts'
import { until } from '../support/until.ts'
import { outboundFor } from './staged.ts'
import { type ExportsWorld, openExportsWorld } from './world.ts'

/** A destination that has no room until it is made. */
interface Full {
  readonly exportId: string
  readonly latestError: string
  makeRoom(): unknown
  /** Numbers of the events that have arrived, sorted. */
  arrived(): Promise<number[]>
}

/** Three of them are more than one part of an upload, and more than one request over HTTP. */
const large = 'x'.repeat(3 * 1024 * 1024)
const small = ['small']
const rows: readonly RowInput[] = [1, 2, 3, 4, 5].map((n) => ({
  uuid: uuidOf(n),
  event: n <= 3 ? 'large' : 'small',
  properties: JSON.stringify({ n, text: n <= 3 ? large : '' }),
}))

async function fullS3(t: Test, world: ExportsWorld): Promise<Full> {
  const s3 = await startS3(t)
  s3.intercept = ({ url = '' }, response) =>
    url.includes('partNumber=2') && s3Refusal(response, 507, 'InsufficientStorage')
  const place = { bucket_name: s3Bucket, region: 'us-east-1', prefix: 'events', endpoint_url: s3.endpoint }
  const exportId = await world.makeExport({
    destination_type: 'S3',
    destination_config: { ...place, ...s3Keys },
  })
  return {
    exportId,
    latestError: 'The storage is full. Make room.',
    makeRoom() {
      t.ok(
        s3.requests.some(({ method, url }) => method === 'DELETE' && url.includes('uploadId=')),
        'the upload was ended',
      )
      s3.intercept = () => false
    },
    async arrived() {
      const texts = await Promise.all((await s3.keys()).map(async (key) => String(await s3.object(key))))
      const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''))
      return lines.map((line) => Number(JSON.parse(line).properties.n)).sort()
    },
  }
}

/** Postgres, and what stands in for Redshift: full at the second row. */
async function fullDatabase(t: Test, world: ExportsWorld, type: 'Postgres' | 'Redshift'): Promise<Full> {
  const { connectionString } = await freshDatabase(t, true)
  const { port } = await startPostgresFront(t, connectionString)
  const text = type === 'Postgres' ? 'jsonb' : 'varchar(65535)'
  const uuid = type === 'Postgres' ? 'uuid' : 'varchar(36)'
  await rowsOf(
    connectionString,
    `create table events (uuid ${uuid}, event text, distinct_id text, person_id ${uuid}, properties ${text},
       elements_chain text, timestamp timestamptz, created_at timestamptz, team_id bigint);
     create table room ();
     create function find_room() returns trigger language plpgsql as $$
     begin
       if not exists (select from room) then
         raise exception 'could not extend file' using errcode = '53100';
       end if;
       return new;
     end $$;
     create trigger full_disk before insert on events for each row when (new.uuid::text like '%5')
       execute function find_room()`,
  )
  const exportId = await world.makeExport({
    destination_type: type,
    destination_config: {
      host: '127.0.0.1',
      port,
      user: 'spate',
      password: 'any',
      database: /@\/(\w+)\?/.exec(connectionString)![1],
      include_events: small,
    },
  })
  return {
    exportId,
    latestError: "The database's disk is full. Make room. (53100)",
    makeRoom: () => rowsOf(connectionString, 'insert into room default values'),
    async arrived() {
      const found = await rowsOf(
        connectionString,
        `select properties::jsonb ->> 'n' as n from events order by 1`,
      )
      return found.map((row) => Number((row as { n: string }).n))
    },
  }
}

/** A receiver that knows events by their uuid, as PostHog and Spate do. */
async function fullReceiver(
  t: Test,
  world: ExportsWorld,
  status: number,
  latestError: string,
  include_events = ['large', 'small'],
): Promise<Full> {
  let left = include_events.length - 1
  const taken = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const body: unknown = JSON.parse(gunzipSync(await buffer(request)).toString())
    const { batch } = body as { batch: { uuid: string; properties: { n: number } }[] } // as we send it
    if (left-- <= 0) return response.writeHead(status).end()
    for (const { uuid, properties } of batch) taken.set(uuid, properties.n)
    return response.end('{}')
  })
  const port = await listenFor(t, server)
  const exportId = await world.makeExport({
    destination_type: 'HTTP',
    destination_config: { url: `http://127.0.0.1:${port}/batch/`, token: 'phc_any', include_events },
  })
  return {
    exportId,
    latestError,
    makeRoom() {
      t.equal(taken.size, include_events.length - 1, 'full in the middle of a chunk')
      left = Number.POSITIVE_INFINITY
    },
    arrived: async () => [...taken.values()].sort(),
  }
}

t.test('a destination that is full is waited for, and has everything once there is room', async (t) => {
  const http = httpDestinationWith({ ...postLimits, pauseMs: 1 })
  const destinations = { ...builtDestinations, HTTP: http }
  // Every attempt takes megabytes.
  const world = await openExportsWorld(t, { destinations, outbound: outboundFor(t), retryMs: () => 1_000 })
  const full = [
    await fullS3(t, world),
    await fullDatabase(t, world, 'Postgres'),
    await fullDatabase(t, world, 'Redshift'),
    await fullReceiver(t, world, 507, 'The server has no room left. (status 507)'),
    await fullReceiver(t, world, 429, 'The server asks to be sent less at a time. (status 429)', small),
    await fullReceiver(t, world, 402, 'The receiving project has used up its quota. (status 402)', small),
  ]
  const tooLarge = 'An event is larger than the server takes. (status 413)'
  const refusing = await fullReceiver(t, world, 413, tooLarge, small)
  await world.ingest({ rows })
  world.at(60)
  await until(async () => {
    await world.exports.tick()
    const { rows: waiting } = await world.postgres.query(
      `select from batch_export_run where status = 'Running' and attempts > 0`,
    )
    return waiting.length === full.length
  }, 60_000)
  for (const { exportId, latestError, makeRoom } of full) {
    const run = (await world.runs()).find(({ batch_export_id }) => batch_export_id === exportId)
    t.match(run, { status: 'Running', records_completed: 0, latest_error: latestError })
    await makeRoom()
  }
  for (const { batch_export_id, status, latest_error } of await world.settle()) {
    const hasEnded = batch_export_id === refusing.exportId ? ['Failed', tooLarge] : ['Completed', null]
    t.strictSame([status, latest_error], hasEnded)
  }
  for (const [at, one] of full.entries())
    t.strictSame(await one.arrived(), [0, 3].includes(at) ? [1, 2, 3, 4, 5] : [4, 5], one.latestError)
})
