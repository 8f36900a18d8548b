// How long does a page of a list take when there is a lot?
//
// An organization with 10,000 members and as many invites and persons, 1,000 projects, and so on. Each list is read in
// its first, a middle and its last page, in pages of the default and of the largest size, one after the other. Every
// page must have the right count and as many rows as it should. That a list is one statement is shown by a test.

import { Agent, request } from 'node:http'
import { openPostgres, type Postgres } from '../src/postgres/pool.ts'
import { silentLog as log } from '../test/support/postgres.ts'
import { machineMs } from './clock.ts'
import { cpuSeconds } from './cpu.ts'
import { fillLists, type ListedPath, listedPaths } from './lists-data.ts'
import {
  describeTimes,
  integerOption,
  type Outcome,
  quantile,
  type ResultRow,
  type Scenario,
} from './scenario.ts'
import { ServerProcess } from './server-process.ts'

const limitDefault = 100
const limitMax = 1000
/** The goal: a page of any list, at any place. */
const pageMsMax = 50

export const lists: Scenario = {
  question: 'how long does a page of a list take in an organization with 10,000 members and 1,000 projects?',
  options: {
    requests: { fallback: '20', meaning: 'for each place and size of a page' },
  },
  run: async ({ options, folder, say }) => {
    const server = new ServerProcess({ dataDir: `${folder}/data`, logPath: `${folder}/server.log` })
    await server.accepting()
    const postgres = openPostgres({ connectionString: await server.databaseUrl(), log })
    try {
      const keys = await fillLists(postgres, server.projectId)
      await settle(postgres)
      const count = integerOption(options, 'requests')
      const run: Run = { server, count, nextKey: keyRing(keys) }
      const [rows, broken, slow]: [ResultRow[], string[], string[]] = [[], [], []]
      for (const list of listedPaths(server.projectId)) {
        for (const limit of [limitDefault, limitMax]) {
          const measured = await measure(run, list, limit)
          rows.push({ name: `${list.name}, ${limit}`, value: measured.value })
          broken.push(...measured.broken)
          slow.push(...measured.slow)
        }
        say(`${list.name} done`)
      }
      return { rows, broken, slow } satisfies Outcome
    } finally {
      await postgres.close()
      await server.stop()
    }
  },
}

interface Run {
  readonly server: ServerProcess
  readonly count: number
  readonly nextKey: () => string
}

/** As the database is some minutes later by itself. */
async function settle(postgres: Postgres): Promise<void> {
  const session = await postgres.hold()
  await session.query('vacuum analyze')
  session.release(true)
}

/** A key may ask 480 times a minute: many take turns. */
function keyRing(keys: readonly string[]): () => string {
  let turn = 0
  return () => keys[turn++ % keys.length]!
}

interface Measured {
  readonly value: string
  readonly broken: readonly string[]
  readonly slow: readonly string[]
}

async function measure(run: Run, list: ListedPath, limit: number): Promise<Measured> {
  const { server, count } = run
  const middle = Math.floor(list.count / 2 / limit) * limit
  const last = Math.floor((list.count - 1) / limit) * limit
  const offsets = [...new Set([0, middle, last])]
  const timesByPlace = new Map<number, number[]>(offsets.map((offset) => [offset, []]))
  const broken: string[] = []
  for (const offset of offsets) await readPage(run, list, limit, offset)
  const before = cpuSeconds(server)
  for (let times = 0; times < count; times++) {
    for (const offset of offsets) {
      const startMs = machineMs()
      const fault = await readPage(run, list, limit, offset)
      timesByPlace.get(offset)?.push(machineMs() - startMs)
      if (fault !== null && broken.length === 0)
        broken.push(`${list.name}, ${limit} from ${offset}: ${fault}`)
    }
  }
  const after = cpuSeconds(server)
  const all = [...timesByPlace.values()].flat()
  const cpu = [after.server - before.server, after.postgres - before.postgres]
    .map((seconds) => ((seconds * 1000) / all.length).toFixed(1))
    .join(' + ')
  const p50s = [...timesByPlace.values()].map((times) => quantile(times, 0.5).toFixed(1)).join(' / ')
  const isSlow = quantile(all, 0.99) >= pageMsMax
  return {
    value: `${p50s} ms; ${describeTimes(all)}; CPU ${cpu} ms`,
    broken,
    slow: isSlow ? [`${list.name}, ${limit}: p99 ${quantile(all, 0.99).toFixed(0)} ms`] : [],
  }
}

/** Reads a page and returns what is wrong with it; null when nothing is. */
async function readPage(run: Run, list: ListedPath, limit: number, offset: number): Promise<string | null> {
  const mark = list.path.includes('?') ? '&' : '?'
  const path = `${list.path}${mark}offset=${offset}${limit === limitDefault ? '' : `&limit=${limit}`}`
  const { status, text } = await get(run.server.port, path, run.nextKey())
  if (status !== 200) return `${status} ${text.slice(0, 200)}`
  const { count, results } = JSON.parse(text) as { count: number; results: unknown[] } // the envelope of lists
  const expected = Math.min(limit, list.count - offset)
  const isRight = count === list.count && results.length === expected
  return isRight ? null : `${results.length} of ${count}, expected ${expected} of ${list.count}`
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

function get(port: number, path: string, key: string): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${key}` }
  return new Promise((resolve, reject) => {
    const asked = request({ agent, host: '127.0.0.1', port, path, headers }, (reply) => {
      const parts: Buffer[] = []
      reply.on('data', (part: Buffer) => parts.push(part))
      reply.on('end', () =>
        resolve({ status: reply.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
      )
    })
    asked.on('error', reject)
    asked.end()
  })
}
