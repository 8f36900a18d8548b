import t from 'tap'
import { addJob, type Jobs, openJobs } from '../../src/exports/jobs.ts'
import { openPostgres } from '../../src/postgres/pool.ts'
import { freshDatabase, silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const job = { runId: 'r', queue: 'export:e', isBackfill: false }

t.test(
  'a job whose end cannot be written ends the work on jobs, and is there again at the next start',
  async (t) => {
    const { connectionString } = await freshDatabase(t)
    const postgres = openPostgres({ connectionString, log })
    t.teardown(() => postgres.close())
    const worked: string[] = []
    let then = async (): Promise<void> => {}
    const open = (): Promise<Jobs> =>
      openJobs(postgres, {
        connectionString,
        log,
        concurrency: 2,
        pollMs: 50,
        work: async (runId) => {
          worked.push(runId)
          await then()
        },
      })
    const table = 'alter table spate_jobs._private_jobs'
    for (const end of ['completed', 'failed']) {
      const jobs = await open()
      then = async () => {
        await postgres.query(`${table} rename to mislaid`)
        if (end === 'failed') throw new Error('the database is away')
      }
      await addJob(postgres, job)
      await jobs.ended
      await jobs.close()
      await postgres.query('alter table spate_jobs.mislaid rename to _private_jobs')
      t.equal(worked.length, 1, end)
      then = async () => {}
      const again = await open()
      await until(async () => (await postgres.query('select from spate_jobs.jobs')).rowCount === 0)
      t.strictSame(worked.splice(0), ['r', 'r'], end)
      await again.close()
    }
  },
)

t.test('a stop waits for what is being worked on, and is no error', async (t) => {
  const { connectionString } = await freshDatabase(t)
  const postgres = openPostgres({ connectionString, log })
  t.teardown(() => postgres.close())
  let state = 'idle'
  let finish = (): void => {}
  const work = async (): Promise<void> => {
    state = 'working'
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    state = 'done'
  }
  const jobs = await openJobs(postgres, { connectionString, log, concurrency: 1, pollMs: 50, work })
  await addJob(postgres, job)
  await until(() => state === 'working')
  const closed = jobs.close()
  finish()
  await closed
  t.equal(state, 'done')
  t.equal((await postgres.query('select from spate_jobs.jobs')).rowCount, 0)
})
