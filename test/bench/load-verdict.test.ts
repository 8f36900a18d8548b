import t, { type Test } from 'tap'
import { createCorpus } from '../../bench/corpus.ts'
import { brokenLoad, judgeLoad, type LoadVerdict, storedRequests } from '../../bench/load-verdict.ts'
import { ClosedPacing } from '../../bench/pacing.ts'
import { RequestBytes } from '../../bench/request-bytes.ts'
import { runLoop } from '../../bench/request-loop.ts'
import { type Workload, workloadNamed } from '../../bench/workload.ts'
import { startFakeServer } from './fake-server.ts'

const corpus = createCorpus(3, 'phc_loadVerdictTest')
const batches: Workload = { ...workloadNamed('w2'), eventCount: 5, basisCount: 4 }

/** Sends 12 requests to a server that then suffers `sql`, and judges its store. */
async function load(t: Test, workload: Workload, sql: string): Promise<LoadVerdict> {
  const { dataDir, failures } = await loadStore(t, workload, sql)
  return await judgeLoad(dataDir, { corpus, workload, count: 12, failures })
}

async function loadStore(t: Test, workload: Workload, sql: string) {
  const server = await startFakeServer(corpus.projectApiKey)
  t.teardown(() => server.close())
  const bytes = new RequestBytes(corpus, workload)
  bytes.prepare(12)
  const failures = new Map<number, number | null>()
  await runLoop(new ClosedPacing(0, 12), {
    port: server.port,
    connections: 1,
    count: 12,
    bytesOf: (number) => bytes.bytesOf(number),
    answered: (number, status) => {
      if (status !== 200) failures.set(number, status)
    },
  })
  const dataDir = t.testdir()
  await server.write(dataDir, sql)
  return { dataDir, failures }
}

t.test('a load of which every event is stored once keeps every promise', async (t) => {
  for (const name of ['w1', 'w2', 'w8'] as const) {
    const workload = { ...workloadNamed(name), eventCount: name === 'w1' ? 1 : 5 }
    const verdict = await load(t, workload, '')
    t.same(brokenLoad(verdict), [], name)
    t.equal(verdict.acknowledgedEvents, name === 'w1' ? 12 : 60)
    t.equal(verdict.comparedEvents, verdict.acknowledgedEvents)
  }
})

t.test('requests that are stored are counted once each, within a range of numbers', async (t) => {
  const fault = `insert into event select * from event where ${one('7', '0')}; delete from event where ${one('b', '0')}`
  const { dataDir } = await loadStore(t, workloadNamed('w1'), fault)
  t.equal(await storedRequests(dataDir, 0, 12), 11)
  t.equal(await storedRequests(dataDir, 5, 11), 6)
  t.equal(await storedRequests(dataDir, 11, 12), 0)
})

/** The event at `index` of request `number`. */
const one = (number: string, index: string): string =>
  `uuid = 'be9c4000-10ad-4000-8000-${number.padStart(6, '0')}${index.padStart(6, '0')}'`

const faults = [
  ['a lost event', `delete from event where ${one('b', '2')}`, '1 acknowledged events were lost'],
  [
    'a lost request',
    `delete from event where uuid::varchar like '%00000b00000_'`,
    '5 acknowledged events were lost',
  ],
  [
    'a doubled event',
    `insert into event select * from event where ${one('7', '4')}`,
    '1 events were stored more than once',
  ],
  [
    'one stored under other properties',
    `update event set properties = '{}' where ${one('7', '4')}`,
    '1 kinds of events were',
  ],
  [
    'a kind stored at another time',
    `update event set timestamp = timestamp + interval 1 second where uuid::varchar similar to '.*00000[37b]000001'`,
    '1 kinds of events were',
  ],
  [
    'an event that nobody sent',
    `insert into event select * replace (uuid() as uuid) from event limit 1`,
    '1 events were stored that were refused',
  ],
  [
    'an event of a request that was never sent',
    `insert into event select * replace ('be9c4000-10ad-4000-8000-000030000000'::uuid as uuid) from event limit 1`,
    '1 events were stored that were refused',
  ],
  [
    'an event out of order',
    `update event set position = 1 where ${one('9', '3')}`,
    '1 events stand out of order',
  ],
  [
    'an event in the project of nobody',
    `update event set project_id = 2 where ${one('9', '3')}`,
    '1 projects have not the events',
  ],
] as const

for (const [what, sql, expected] of faults)
  t.test(`finds ${what}`, async (t) => {
    const verdict = await load(t, batches, sql)
    t.ok(
      brokenLoad(verdict).some((line) => line.startsWith(expected)),
      brokenLoad(verdict).join('; '),
    )
  })

t.test('events that are invalid must not be stored', async (t) => {
  const verdict = await load(t, { ...batches, invalidShare: 0.5 }, '')
  // The fake server stores whatever comes.
  t.ok(verdict.uninvited > 10)
  t.equal(verdict.acknowledgedEvents + verdict.uninvited, 60)
  t.equal(verdict.lost, 0)
})
