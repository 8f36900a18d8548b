import t, { type Test } from 'tap'
import { mixedLoad, Oracle, verify } from '../../bench/oracle.ts'
import { brokenPromises, type Verdict } from '../../bench/verdict.ts'
import { startFakeServer } from './fake-server.ts'

const projectApiKey = 'phc_test'
const load = { ...mixedLoad, requestsPerSecond: 2000, countMax: 150, repeatShare: 0.2 }

function openOracle(t: Test, folder: string): Oracle {
  const oracle = new Oracle(folder, { client: 0, seed: 1, projectApiKey })
  t.teardown(() => oracle.close())
  return oracle
}

// One load against a server that keeps its promises, judged several times: as it is, and with faults planted.
const folder = t.testdir()
const honestOracle = openOracle(t, folder)
const honest = await startFakeServer(projectApiKey)
honestOracle.begin({ ...load, port: honest.port })
await honestOracle.finished()
honest.close()

/** Runs `sql` on what the honest server stored, and judges. */
async function judgeDoctored(t: Test, sql: string): Promise<Verdict> {
  const dataDir = t.testdir()
  await honest.write(dataDir, sql)
  return await verify([honestOracle], { dataDir, projectId: 1, sentinels: [], facts: null })
}

const chosen = `(select uuid from event where not historical order by uuid limit 1 offset 10)`

t.test('is content with a server that keeps its promises', async (t) => {
  const verdict = await judgeDoctored(t, '')
  t.same(brokenPromises(verdict), [])
  t.equal(verdict.unansweredRequests, 0)
  t.ok(verdict.acknowledgedEvents > 500, `${verdict.acknowledgedEvents} events acknowledged`)
  t.ok(verdict.acknowledgedEvents < verdict.eventCount, 'some requests were refused')
})

t.test('finds a planted loss', async (t) => {
  const verdict = await judgeDoctored(t, `delete from event where uuid = ${chosen}`)
  t.equal(verdict.lost, 1)
  t.equal(verdict.doubled, 0)
})

t.test('finds a planted duplicate', async (t) => {
  const verdict = await judgeDoctored(
    t,
    `insert into event select * replace (position + 1000000 as position) from event where uuid = ${chosen}`,
  )
  t.equal(verdict.doubled, 1)
  t.equal(verdict.lost, 0)
})

t.test('finds a planted change of one property', async (t) => {
  const changed = `replace(properties::varchar, '"price":', '"prize":')`
  // An event that tells who is who has no price.
  const priced = `(select uuid from event where properties::varchar like '%"price":%' order by uuid limit 1)`
  const sql = `update event set properties = ${changed} where uuid = ${priced}`
  t.equal((await judgeDoctored(t, sql)).altered, 1)
})

t.test('takes an event from quarantine for stored', async (t) => {
  const sql = `insert into quarantine select 1, ${chosen}; delete from event where uuid = ${chosen}`
  const verdict = await judgeDoctored(t, sql)
  t.same(brokenPromises(verdict), [])
  t.equal(verdict.quarantinedEvents, 1)
})

t.test('sends again what got no answer, and finds it stored once', async (t) => {
  const dataDir = t.testdir()
  const oracle = openOracle(t, dataDir)
  const server = await startFakeServer(projectApiKey, (number) => {
    if (number > 100) return 'answer'
    return (['answer', 'store silently', 'forget silently', 'unavailable'] as const)[number % 4]!
  })
  oracle.begin({ ...load, port: server.port, countMax: 100 })
  const before = await oracle.finished()
  t.ok(before.unanswered > 50, `${before.unanswered} unanswered`)
  const after = await oracle.resend(server.port)
  t.equal(after.unanswered, 0)
  server.close()
  await server.write(dataDir)
  const verdict = await verify([oracle], { dataDir, projectId: 1, sentinels: [], facts: null })
  t.same(brokenPromises(verdict), [])
  t.equal(verdict.unansweredRequests, 0)
  t.ok(verdict.acknowledgedEvents < verdict.eventCount, 'some requests were refused')
})

t.test('lets a request without an answer be stored or not, but never in part', async (t) => {
  const folder = t.testdir({ whole: {}, torn: {} })
  const oracle = openOracle(t, folder)
  const server = await startFakeServer(projectApiKey, (number) =>
    number % 2 === 0 ? 'store silently' : 'forget silently',
  )
  oracle.begin({ ...load, port: server.port, countMax: 40, mix: { batch: 1 } })
  await oracle.finished()
  server.close()
  await server.write(`${folder}/whole`)
  const whole = await verify([oracle], {
    dataDir: `${folder}/whole`,
    projectId: 1,
    sentinels: [],
    facts: null,
  })
  t.same(brokenPromises(whole), [])
  t.equal(whole.unansweredRequests, 40)
  t.equal(whole.unansweredStored, 20)
  await server.write(`${folder}/torn`, 'delete from event where index = 3')
  t.equal(
    (await verify([oracle], { dataDir: `${folder}/torn`, projectId: 1, sentinels: [], facts: null })).torn,
    20,
  )
})

t.test('does not judge a store that is behind what its server said', async (t) => {
  const dataDir = t.testdir()
  await honest.write(dataDir)
  const place = { dataDir, projectId: 1, sentinels: ['sentinel-realtime-1'], facts: null }
  await t.rejects(verify([honestOracle], place), { message: /sentinel-realtime-1 is not in its store/ })
})
