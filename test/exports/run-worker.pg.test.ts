import t from 'tap'
import { DeliveryError, type StagedChunk } from '../../src/exports/delivery.ts'
import { plainRows, uuidOf } from '../events/make-batch.ts'
import { until } from '../support/until.ts'
import { type ExportsWorld, openExportsWorld } from './world.ts'

const uuids = (first: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => uuidOf(first + index))

/** An hour of seven events, which are three chunks. */
async function worldWithHour(t: Parameters<typeof openExportsWorld>[0]): Promise<ExportsWorld> {
  const world = await openExportsWorld(t)
  await world.makeExport({ end_at: '2024-05-01T14:00:00Z' })
  await world.ingest({ rows: plainRows(1, 7) })
  world.at(60)
  return world
}

/** As a destination does that is asked for something while it, or before it, is told to stop. */
async function waitForever(_chunk: StagedChunk, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

async function cancelRun(world: ExportsWorld): Promise<void> {
  await world.postgres.query(`update batch_export_run set status = 'Cancelled', finished_at = now()`)
}

t.test('a destination that is down for a while is tried again from where the run was', async (t) => {
  const world = await worldWithHour(t)
  let refusals = 0
  world.recorder.beforeKept = ({ index }) => {
    if (index === 1 && refusals++ < 3) throw new DeliveryError('temporary', 'The bucket does not answer.')
  }
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 7, latest_error: null })
  t.strictSame(world.recorder.column('uuid'), uuids(1, 7))
  t.equal(world.recorder.deliveries, 3)
  t.strictSame(
    await world.messages('WARNING'),
    Array(3).fill('The bucket does not answer. Tried again in 0.02 s.'),
  )
  t.strictSame(await world.messages('INFO'), [
    'Started: 7 records.',
    'Delivered chunk 0: 3 records, 825 bytes.',
    'Delivered chunk 1: 3 records, 825 bytes.',
    'Delivered chunk 2: 1 records, 275 bytes.',
    'Completed: 7 records, 1925 bytes.',
  ])
})

t.test('revoked credentials end the run with a sentence, and a retry exports the same rows', async (t) => {
  const world = await worldWithHour(t)
  world.recorder.beforeKept = ({ index }) => {
    if (index === 1) throw new DeliveryError('permanent', 'The access key was refused: send another.')
  }
  const [run] = await world.settle()
  const sentence = 'The access key was refused: send another.'
  t.match(run, { status: 'Failed', records_completed: 3, latest_error: sentence })
  t.strictSame(await world.messages('ERROR'), [sentence])
  world.recorder.beforeKept = () => {}
  world.at(70)
  await world.ingest({ rows: plainRows(8, 1) })
  await world.backfill(String((await exportIds(world))[0]), run!.data_interval_start, run!.data_interval_end)
  const [, retried] = await world.settle()
  t.match(retried, { status: 'Completed', records_completed: 7 })
  t.strictSame(world.recorder.column('uuid'), uuids(1, 7))
  world.at(120)
  await world.settle()
  t.strictSame(world.recorder.column('uuid'), uuids(1, 8))
})

async function exportIds(world: ExportsWorld): Promise<string[]> {
  const { rows } = await world.postgres.query<{ id: string }>('select id from batch_export')
  return rows.map(({ id }) => id)
}

t.test('what nothing can be delivered to for three days is given up', async (t) => {
  const world = await worldWithHour(t)
  let days = 0
  world.recorder.beforeKept = () => {
    world.at(60 + 24 * 60 * days++)
    throw new DeliveryError('temporary', 'The host does not answer.')
  }
  await world.exports.tick()
  await until(async () => (await world.statuses())[0] === 'FailedRetryable')
  t.match((await world.runs())[0], { latest_error: 'The host does not answer.', records_completed: 0 })
  t.equal(days, 5)
})

t.test('a run that is cancelled stops at once and delivers nothing more', async (t) => {
  const world = await worldWithHour(t)
  world.recorder.beforeKept = (chunk, signal) => (chunk.index === 1 ? waitForever(chunk, signal) : null)
  await world.exports.tick()
  await until(() => world.recorder.deliveries === 1 && world.exports.state().running === 1)
  await cancelRun(world)
  await until(() => world.exports.state().running === 0)
  t.strictSame(await world.statuses(), ['Cancelled'])
  t.strictSame(world.recorder.column('uuid'), uuids(1, 3))
})

t.test('a run that was cancelled in vain commits nothing', async (t) => {
  const world = await worldWithHour(t)
  world.recorder.afterKept = () => cancelRun(world)
  await world.exports.tick()
  await until(async () => (await world.statuses())[0] === 'Cancelled' && world.exports.state().running === 0)
  t.match((await world.runs())[0], { records_completed: 0, cursor: null })
  t.equal(world.recorder.deliveries, 1)
})

t.test('an export, or its project, that is deleted takes its runs along', async (t) => {
  for (const sql of ['delete from batch_export', 'delete from project where id = 1']) {
    const world = await worldWithHour(t)
    world.recorder.beforeKept = waitForever
    await world.exports.tick()
    await until(() => world.exports.state().running === 1)
    await world.postgres.query(sql)
    await until(() => world.exports.state().running === 0)
    t.strictSame(await world.runs(), [])
    await world.exports.tick()
  }
})

t.test('a stop puts a run off, and the next start goes on with it', async (t) => {
  const world = await worldWithHour(t)
  world.recorder.beforeKept = (chunk, signal) => (chunk.index === 1 ? waitForever(chunk, signal) : null)
  await world.exports.tick()
  await until(() => world.recorder.deliveries === 1 && world.exports.state().running === 1)
  await world.exports.close()
  t.match((await world.runs())[0], { status: 'Running', records_completed: 3, latest_error: null })
  world.recorder.beforeKept = () => {}
  await world.restart()
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 7 })
  t.equal(world.recorder.deliveries, 3)
  t.strictSame(world.recorder.column('uuid'), uuids(1, 7))
})

t.test('a run that the process did not survive five times is terminated', async (t) => {
  const world = await worldWithHour(t)
  await world.exports.close()
  await world.restart()
  world.recorder.beforeKept = waitForever
  await world.exports.tick()
  await until(() => world.exports.state().running === 1)
  await world.exports.close()
  await world.postgres.query('update batch_export_run set crashes = 4, is_at_work = true')
  await world.restart()
  t.match((await world.settle())[0], { status: 'Terminated' })
})

t.test('what an earlier run may have delivered is told to the destination, and waited for', async (t) => {
  for (const isReplacing of [false, true]) {
    const world = await worldWithHour(t)
    world.recorder.isReplacing = isReplacing
    const [id] = await exportIds(world)
    world.recorder.beforeKept = ({ index }) => {
      if (index === 2) throw new DeliveryError('permanent', 'The bucket is not there.')
    }
    await world.settle()
    world.recorder.beforeKept = () => {}
    await world.backfill(String(id), '2024-05-01T12:00:00Z', '2024-05-01T13:00:00Z')
    await world.settle()
    // Two runs that overlap the one that is at work: another from the beginning, and the schedule's next.
    await world.ingest({ rows: plainRows(8, 1) })
    world.at(90)
    await world.ingest({ rows: plainRows(9, 1) })
    let holding = 0
    let most = 0
    const letGo = new Set<() => void>()
    world.recorder.beforeKept = async () => {
      most = Math.max(most, ++holding)
      await new Promise<void>((resolve) => letGo.add(resolve))
      holding--
    }
    await world.backfill(String(id), null, '2024-05-01T13:30:00Z')
    await world.exports.tick()
    await until(() => letGo.size === 1)
    world.at(120)
    await world.exports.tick()
    await until(async () => world.exports.state().running === (isReplacing ? 1 : 2) || holding > 1)
    await until(async () => (await waiting(world)) === (isReplacing ? 1 : 0))
    if (!isReplacing) await until(() => holding === 2)
    world.recorder.beforeKept = () => {}
    for (const go of letGo) go()
    await world.hurry()
    await world.settle()
    t.equal(most, isReplacing ? 1 : 2)
    t.strictSame(
      world.recorder.subjects.map(({ mayRepeat, earlierChunkCount }) => [mayRepeat, earlierChunkCount]),
      [
        [false, 0],
        [true, 3],
        [true, 0],
        [true, 0],
      ],
    )
  }
})

/** Jobs that nobody works on, and that are for later. */
async function waiting(world: ExportsWorld): Promise<number> {
  const { rows } = await world.postgres.query(
    'select from spate_jobs.jobs where locked_at is null and run_at > now()',
  )
  return rows.length
}

t.test('an export that is changed in the middle of a run begins the interval anew', async (t) => {
  const world = await worldWithHour(t)
  world.recorder.beforeKept = async ({ index }) => {
    if (index !== 1) return
    world.recorder.beforeKept = () => {}
    await world.postgres.query(
      `update batch_export set filters = '[{"key": "n", "value": 4, "operator": "gt"}]'`,
    )
    throw new DeliveryError('temporary', 'The bucket does not answer.')
  }
  const runs = await world.settle()
  t.strictSame(
    runs.map((run) => [run.status, run.records_completed]),
    [
      ['ContinuedAsNew', 3],
      ['Completed', 3],
    ],
  )
  t.strictSame(world.recorder.column('uuid'), uuids(5, 3))
})

t.test('an export that is changed when its first chunk may have arrived begins anew as well', async (t) => {
  const world = await openExportsWorld(t)
  await world.makeExport({ end_at: '2024-05-01T14:00:00Z' })
  await world.ingest({
    rows: plainRows(1, 7).map((row, at) => ({ ...row, event: at < 2 ? 'seen' : 'bought' })),
  })
  world.at(60)
  world.recorder.isTable = true
  world.recorder.afterKept = async () => {
    world.recorder.afterKept = () => {}
    // The first chunk would end elsewhere now.
    await world.postgres.query(
      `update batch_export set destination_config = '{"include_events": ["bought"]}'`,
    )
    throw new DeliveryError('temporary', 'The answer was lost.')
  }
  const runs = await world.settle()
  t.strictSame(
    runs.map((run) => [run.status, run.records_completed]),
    [
      ['ContinuedAsNew', 0],
      ['Completed', 5],
    ],
  )
  t.strictSame(world.recorder.column('uuid').sort(), uuids(1, 7))
})

t.test('a chunk whose answer was lost ends where it did, although its events are deleted', async (t) => {
  const world = await openExportsWorld(t)
  await world.makeExport({ end_at: '2024-05-01T14:00:00Z' })
  const bornId = uuidOf(0xda)
  await world.ingest({ rows: plainRows(1, 7).map((row, at) => (at < 3 ? { ...row, bornId } : row)) })
  world.at(60)
  world.recorder.isTable = true
  world.recorder.afterKept = async () => {
    world.recorder.afterKept = () => {}
    await world.deleteEventsOf(bornId)
    throw new DeliveryError('temporary', 'The answer was lost.')
  }
  const [run] = await world.settle()
  t.match(run, { status: 'Completed', records_completed: 4 })
  t.strictSame(world.recorder.column('uuid'), uuids(1, 7))
  t.strictSame(world.recorder.finished, ['2024-05-01T12:00–2024-05-01T13:00: 0=0 1=3 2=1'])
})
