// What does an answer to /decide cost, by the number of flags, and how long does it take while events come in?
//
// A known person asks for 10, 100 and 1000 flags, half of which need the person's stored properties. Every answer is
// compared with the plain evaluation of test/flags. The figure is answers per second of the server's CPU time, its
// Postgres counted apart: wall time says more about the machine than about the server.

import { Agent, request } from 'node:http'
import type { FlagFilters, PropertyFilter } from '../src/flags/definition.ts'
import { openPostgres, type Postgres } from '../src/postgres/pool.ts'
import { definitionsOf, flag } from '../test/flags/make.ts'
import { plainEvaluate } from '../test/flags/plain-evaluate.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { machineMs } from './clock.ts'
import { cpuSeconds } from './cpu.ts'
import { describeTimes, integerOption, type Outcome, type ResultRow, type Scenario } from './scenario.ts'
import { ServerProcess } from './server-process.ts'
import { waitFor } from './wait.ts'

const flagCounts = [10, 100, 1000]
const person = { id: 'known-person', properties: { plan: 'pro', email: 'ada@example.com', age: 36 } }
const heardMsMax = 30_000

export const decide: Scenario = {
  question: 'what does an answer to /decide cost, alone and while events come in?',
  options: {
    requests: { fallback: '4000', meaning: 'for each number of flags' },
    connections: { fallback: '16', meaning: 'that ask at once' },
  },
  run: async ({ options, folder, say }) => {
    const server = new ServerProcess({ dataDir: `${folder}/data`, logPath: `${folder}/server.log` })
    await server.accepting()
    const postgres = openPostgres({ connectionString: await server.databaseUrl(), log })
    try {
      await makePerson(server, postgres)
      const run = {
        server,
        count: integerOption(options, 'requests'),
        at: integerOption(options, 'connections'),
      }
      const rows: ResultRow[] = []
      const broken: string[] = []
      for (const flagCount of flagCounts) {
        const expected = await defineFlags(server, postgres, flagCount)
        for (const isIngesting of [false, true]) {
          const name = `${flagCount} flags${isIngesting ? ', ingesting' : ''}`
          const ingestion = isIngesting ? ingest(server) : null
          rows.push(await measure(name, run, expected, broken))
          await ingestion?.stop()
          say(`${name} done`)
        }
      }
      return { rows, broken, slow: [] } satisfies Outcome
    } finally {
      await postgres.close()
      await server.stop()
    }
  },
}

interface Run {
  readonly server: ServerProcess
  readonly count: number
  /** Connections. */
  readonly at: number
}

async function makePerson(server: ServerProcess, postgres: Postgres): Promise<void> {
  const event = { event: '$identify', distinct_id: person.id, properties: { $set: person.properties } }
  await post(server, '/capture/', { api_key: server.projectApiKey, ...event })
  await waitFor('the person is known', heardMsMax, async () => {
    const { rowCount } = await postgres.query('select 1 from person_distinct_id where distinct_id = $1', [
      person.id,
    ])
    return rowCount === 1 ? true : null
  })
}

/** Filters of every second flag need a stored property; the others a hash, and some a variant. */
function filtersOf(index: number): FlagFilters {
  const stored: PropertyFilter[] = [
    { key: 'plan', value: index % 4 === 1 ? 'pro' : 'team', operator: 'exact', type: 'person' },
    { key: 'email', value: '@example.com', operator: 'icontains', type: 'person' },
    { key: 'age', value: String(index % 70), operator: 'gt', type: 'person' },
  ]
  const properties = index % 2 === 0 ? [] : [stored[index % 3]!]
  const variants = ['control', 'test'].map((key) => ({ key, rollout_percentage: 50 }))
  return {
    groups: [{ properties, rollout_percentage: index % 4 === 0 ? 50 : 100 }],
    multivariate: index % 5 === 0 ? { variants } : null,
  }
}

/** Replaces all flags, waits until the server knows, and returns what must be answered. */
async function defineFlags(server: ServerProcess, postgres: Postgres, count: number): Promise<string> {
  const keys = Array.from({ length: count }, (_, index) => `flag-${index}`)
  const filters = keys.map((_, index) => filtersOf(index))
  await postgres.query('delete from feature_flag')
  await postgres.query(
    `insert into feature_flag (project_id, key, filters) select $1, key, filters from unnest($2::text[], $3::jsonb[])
     with ordinality as f (key, filters, n) order by n`,
    [server.projectId, keys, filters.map((one) => JSON.stringify(one))],
  )
  await waitFor('the flags are known', heardMsMax, async () => {
    const { text } = await post(server, '/decide/?v=3', question(server))
    return Object.keys(JSON.parse(text).featureFlags).length === count ? true : null
  })
  const definitions = definitionsOf(keys.map((key, index) => flag(key, filters[index]!, { id: index + 1 })))
  const plain = plainEvaluate(definitions, { ...person, groups: {}, staticCohorts: [], hashKeys: {} })
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, plain[key]![0]])))
}

function question(server: ServerProcess): object {
  return { api_key: server.projectApiKey, distinct_id: person.id, person_properties: { seen: 'now' } }
}

async function measure(name: string, run: Run, expected: string, broken: string[]): Promise<ResultRow> {
  const { server, count, at } = run
  const body = question(server)
  for (let warm = 0; warm < 200; warm++) await post(server, '/decide/?v=3', body)
  const before = cpuSeconds(server)
  const startMs = machineMs()
  const times: number[] = []
  let wrong = 0
  const client = async (): Promise<void> => {
    while (times.length + wrong < count) {
      const askedMs = machineMs()
      const { status, text } = await post(server, '/decide/?v=3', body)
      times.push(machineMs() - askedMs)
      const isRight =
        status === 200 && text.includes(`"featureFlags":${expected},"errorsWhileComputingFlags":false`)
      if (!isRight) wrong++
    }
  }
  await Promise.all(Array.from({ length: at }, client))
  const seconds = (machineMs() - startMs) / 1000
  const after = cpuSeconds(server)
  if (wrong > 0) broken.push(`${name}: ${wrong} of ${times.length} answers were wrong`)
  const perCpu = (times.length / (after.server - before.server)).toFixed(0)
  const postgresMicros = (((after.postgres - before.postgres) * 1e6) / times.length).toFixed(0)
  const wall = (times.length / seconds).toFixed(0)
  const value = `${perCpu}/CPU-s, Postgres ${postgresMicros} µs each, ${wall}/s, ${describeTimes(times)}`
  return { name, value }
}

/** Sends batches of 20 events, one after the other, until it is stopped. */
function ingest(server: ServerProcess): { stop(): Promise<void> } {
  let isOver = false
  const send = async (): Promise<void> => {
    for (let round = 0; !isOver; round++) {
      const batch = Array.from({ length: 20 }, (_, index) => ({
        event: '$pageview',
        distinct_id: `visitor-${(round * 20 + index) % 5000}`,
        properties: { $current_url: `https://example.com/${index}`, text: 'x'.repeat(800) },
      }))
      await post(server, '/batch/', { api_key: server.projectApiKey, batch })
    }
  }
  const sending = send()
  return {
    async stop() {
      isOver = true
      await sending
    },
  }
}

const agent = new Agent({ keepAlive: true })

function post(server: ServerProcess, path: string, body: object): Promise<{ status: number; text: string }> {
  const text = JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  return new Promise((resolve, reject) => {
    const sent = request(
      { agent, host: '127.0.0.1', port: server.port, path, method: 'POST', headers },
      (reply) => {
        let answer = ''
        reply.setEncoding('utf8')
        reply.on('data', (chunk: string) => {
          answer += chunk
        })
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text: answer }))
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}
