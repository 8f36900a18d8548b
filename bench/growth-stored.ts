// What an event costs with many events stored, of what it costs with few. One server is loaded on and on. At each mark
// a new one of the same build is warmed up, and both are loaded in turn, sample by sample: the machine changes its
// speed by up to two from minute to minute, and only neighbours tell its speed from what grows.
//
// A new server is dearer than an old one, since its code is still being compiled, which would hide growth: after a
// million events 4 % of its time was in V8's calls and loads that are not compiled in, after ten million 1 %.

import { join } from 'node:path'
import { besideOf, type Curve, type Point, pointOf } from './curve.ts'
import { endSide, type IngestPlan, openSide, planOf, type Side, takeSample } from './ingest-run.ts'
import { LoadProcess } from './load-process.ts'
import { onCore, parseCores } from './pinned.ts'
import { type Context, integerOption } from './scenario.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

/** What is loaded, `samples` of each server at a mark. */
export interface GrowthPlan extends IngestPlan {
  /** Numbers of events stored, ascending. */
  readonly marks: readonly number[]
}

interface Mark {
  readonly point: Point
  readonly broken: readonly string[]
}

interface Run {
  readonly plan: IngestPlan
  readonly generator: LoadProcess
  readonly grown: Side
  readonly folder: string
  say(line: string): void
}

/** The curve of W3. Of the options: events, cores. */
export async function storedCurve({ options, folder, say }: Context, isQuick: boolean): Promise<Curve> {
  const events = integerOption(options, 'events')
  const plan: GrowthPlan = {
    ...planOf('w3', isQuick),
    samples: isQuick ? 3 : 7,
    // The new one has a million events when the middle one of seven samples begins.
    warmUps: isQuick ? 1 : 7,
    evenSeconds: 0,
    isPackedAhead: false,
    cores: parseCores(options.cores ?? ''),
    marks: isQuick ? [events / 50] : [(events * 3) / 10, events],
  }
  return await growBesideNew(plan, join(folder, 'stored'), say)
}

/** Loads one server up to all marks; the points are these, each beside a server that is new then. */
export async function growBesideNew(
  plan: GrowthPlan,
  folder: string,
  say: (line: string) => void,
): Promise<Curve> {
  const { workload, seed, cores } = plan
  const generator = new LoadProcess({ workload, seed, projectApiKey }, cores.generator)
  const grown = openSide(plan, join(folder, 'grown'), null, 'grown')
  const run: Run = { plan, generator, grown, folder, say }
  const points: Point[] = []
  const broken: string[] = []
  try {
    await grown.ingest.accepting()
    await onCore(cores.generator, async () => {
      for (const mark of plan.marks) {
        await growTo(run, mark)
        const found = await compareWithNew(run)
        points.push(found.point)
        broken.push(...found.broken)
      }
    })
    broken.push(...(await endSide(grown)).broken)
  } finally {
    await grown.ingest.close()
    await generator.close()
  }
  return { points, broken }
}

/** Loads on until the middle one of the next samples begins with so many events stored. */
async function growTo({ plan, generator, grown, say }: Run, events: number): Promise<void> {
  while (storedAtMiddle(plan, grown.ingest.sentCount) < events)
    await takeSample(plan, grown, generator, true, say)
}

async function compareWithNew({ plan, generator, grown, folder, say }: Run): Promise<Mark> {
  const at = storedAtMiddle(plan, grown.ingest.sentCount)
  const few = openSide(plan, join(folder, `new-${at}`), null, 'new')
  try {
    await few.ingest.accepting()
    for (let round = 0; round < plan.warmUps; round++) await takeSample(plan, few, generator, false, say)
    const atFew = storedAtMiddle(plan, few.ingest.sentCount)
    for (let round = 0; round < plan.samples; round++)
      for (const side of [grown, few]) await takeSample(plan, side, generator, true, say)
    const samples = grown.samples.slice(-plan.samples)
    const { broken } = await endSide(few)
    return { point: { ...pointOf(at, samples), beside: besideOf(atFew, samples, few.samples) }, broken }
  } finally {
    await few.ingest.close()
  }
}

/** Events in the store when the middle one of the samples begins that follow so many requests. */
function storedAtMiddle({ workload, requests, samples }: IngestPlan, sentCount: number): number {
  return (sentCount + Math.floor(samples / 2) * requests) * workloadNamed(workload).eventCount
}
