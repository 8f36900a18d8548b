// Does an event cost the same when there is more of everything? A curve is one quantity over decades; each of its
// points says what an event costs there, and the last of a curve is compared with its first.
//
//   stored        events in the store: one server is loaded on and on (growth-stored.ts)
//   batch         events of a request
//   connections   that send single events
//   projects      whose single events come in turn
//   persons       known before, and met before by this process (the persons' own store, without a server)
//   started       the same for a process that has just started, and remembers none of them
//   flags         of a project that somebody asks for; an answer in place of an event

import { join } from 'node:path'
import { type Curve, describeCurve, type Point, pointOf } from './curve.ts'
import { decide } from './decide.ts'
import { storedCurve } from './growth-stored.ts'
import { type IngestPlan, planOf, runIngest, type SideReport } from './ingest-run.ts'
import { persons } from './persons.ts'
import { parseCores } from './pinned.ts'
import type { Context, Outcome, ResultRow, Scenario } from './scenario.ts'

type Measure = (context: Context, isQuick: boolean) => Promise<Curve>

const curves: Readonly<Record<string, Measure>> = {
  stored: storedCurve,
  batch,
  connections,
  projects,
  persons: (context, isQuick) => knownPersons(context, isQuick, 'met', 'met before'),
  started: (context, isQuick) => knownPersons(context, isQuick, 'started', 'just started'),
  flags,
}

export const curveNames: readonly string[] = Object.keys(curves)

export const growth: Scenario = {
  question: 'does an event cost the same when there is more of everything?',
  options: {
    curves: { fallback: 'all', meaning: `or some, with commas: ${curveNames.join(', ')}` },
    quick: { fallback: 'no', meaning: 'yes: a decade less of each, and short samples' },
    events: { fallback: '10000000', meaning: 'stored in the end, for the curve `stored`' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async (context) => {
    const { options, say } = context
    const names = options.curves === 'all' ? curveNames : (options.curves ?? '').split(',')
    const rows: ResultRow[] = []
    const broken: string[] = []
    for (const name of names) {
      say(`${name} …`)
      const curve = await measureCurve(name, context, options.quick === 'yes')
      rows.push(...describeCurve(name, curve.points))
      broken.push(...curve.broken.map((line) => `${name}: ${line}`))
    }
    return { rows, broken, slow: [] } satisfies Outcome
  },
}

/** Measures one of `curveNames`; the options are those of the scenario. */
export async function measureCurve(name: string, context: Context, isQuick: boolean): Promise<Curve> {
  const measure = curves[name]
  if (measure === undefined) throw new Error(`there is no curve ${name}`)
  return await measure(context, isQuick)
}

async function batch(context: Context, isQuick: boolean): Promise<Curve> {
  const sizes = isQuick ? [1, 20, 1000] : [1, 20, 200, 1000, 5000, 18_000]
  return await curveOf(sizes, (size) =>
    one(ingestPlan(context, `batch-${size}`, isQuick), context, `batch-${size}`),
  )
}

async function connections(context: Context, isQuick: boolean): Promise<Curve> {
  const counts = isQuick ? [1, 64, 512] : [1, 4, 16, 64, 256, 1024]
  return await curveOf(counts, (count) => {
    const plan = ingestPlan(context, 'w1', isQuick)
    // One connection waits for the disk with each event.
    const requests = count === 1 ? Math.ceil(plan.requests / 10) : plan.requests
    return one({ ...plan, connections: count, requests }, context, `connections-${count}`)
  })
}

async function projects(context: Context, isQuick: boolean): Promise<Curve> {
  const counts = isQuick ? [1, 100] : [1, 10, 100, 1000, 10_000]
  return await curveOf(counts, (count) => {
    const plan = ingestPlan(context, `projects-${count}`, isQuick)
    // By then every project has met the persons of all 256 requests, of which one in some is new to it.
    return one({ ...plan, warmUps: isQuick ? 1 : 6 }, context, `projects-${count}`)
  })
}

/** The cost of an event of which one in ten tells who is who, thread and Postgres together. */
async function knownPersons(
  context: Context,
  isQuick: boolean,
  state: string,
  words: string,
): Promise<Curve> {
  const counts = isQuick ? [1000, 100_000] : [1000, 10_000, 100_000, 1_000_000]
  const points: Point[] = []
  const broken: string[] = []
  for (const count of counts) {
    const options = {
      persons: String(count),
      samples: isQuick ? '2' : '5',
      'step-events': '10000',
      seed: '1',
      state,
    }
    const outcome = await persons.run({
      ...context,
      options,
      folder: join(context.folder, `${state}-${count}`),
    })
    if ('skipped' in outcome) throw new Error(outcome.skipped)
    const value = outcome.rows.find(({ name }) => name === `10 % identity events, ${words}`)?.value ?? ''
    const perSecond = Number(/(\d+) events\/s/.exec(value)?.[1])
    points.push({ at: count, cpuMicros: 1e6 / perSecond, perSecond })
    broken.push(...outcome.broken)
  }
  return { points, broken }
}

async function flags({ folder, options, say }: Context, isQuick: boolean): Promise<Curve> {
  const counts = isQuick ? [10, 1000] : [10, 100, 1000, 5000]
  const defaults = Object.entries(decide.options).map(([name, { fallback }]) => [name, fallback])
  const outcome = await decide.run({
    folder: join(folder, 'flags'),
    say,
    options: {
      ...Object.fromEntries(defaults),
      flags: counts.join(','),
      cores: options.cores ?? '',
      ...(isQuick ? { requests: '1000', samples: '3' } : {}),
    },
  })
  if ('skipped' in outcome) throw new Error(outcome.skipped)
  const rows = new Map(outcome.rows.map(({ name, value }) => [name, value]))
  const points = counts.map((at) => {
    const [server, postgres] = (rows.get(`${at} flags server + Postgres`) ?? '')
      .split('+')
      .map(Number.parseFloat)
    return { at, cpuMicros: server! + postgres!, perSecond: Number(rows.get(`${at} flags answers/s`)) }
  })
  return { points, broken: outcome.broken }
}

function ingestPlan({ options }: Context, workload: string, isQuick: boolean): IngestPlan {
  const plan = planOf(workload, isQuick)
  // Each point has a server of its own, warmed up alike.
  const rounds = isQuick ? { samples: 2, warmUps: 1 } : { samples: 3, warmUps: 3 }
  return { ...plan, ...rounds, evenSeconds: 0, cores: parseCores(options.cores ?? '') }
}

async function one(plan: IngestPlan, { folder, say }: Context, name: string): Promise<SideReport> {
  const [report] = await runIngest(plan, join(folder, name), say)
  return report! // there is one checkout
}

async function curveOf(
  places: readonly number[],
  measure: (at: number) => Promise<SideReport>,
): Promise<Curve> {
  const points: Point[] = []
  const broken: string[] = []
  for (const at of places) {
    const report = await measure(at)
    points.push(pointOf(at, report.samples))
    broken.push(...report.broken)
  }
  return { points, broken }
}
