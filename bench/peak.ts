// Does another generator find another peak than our own?
//
// Both load one server in turn with the same single events, as fast as answers come, and the store is judged in the
// end. Of wrk's requests nobody knows which were answered: none may be stored twice, none otherwise than it was sent,
// and at least as many as were answered. What is in flight when a stretch ends, one request a connection, can hide a
// loss.

import { join } from 'node:path'
import { createCorpus } from './corpus.ts'
import { spreadOf } from './ingest-figures.ts'
import { LoadProcess } from './load-process.ts'
import { brokenLoad, judgeLoad, storedRequests } from './load-verdict.ts'
import { onCore, parseCores } from './pinned.ts'
import { type Context, integerOption, type Outcome, type Scenario } from './scenario.ts'
import { waitUntilSettled } from './sentinel.ts'
import { killEmbeddedPostgres, projectApiKey, ServerProcess } from './server-process.ts'
import { workloadNamed } from './workload.ts'
import { hasWrk, runWrk } from './wrk.ts'

/** Rounds before those that count, as the samples of `ingest` have. */
const warmUps = 2

export const peak: Scenario = {
  question: 'does another generator, wrk, find another peak than our own?',
  options: {
    workload: { fallback: 'w1', meaning: 'w1 or w1-256' },
    rounds: { fallback: '5', meaning: 'of each generator, in turn' },
    seconds: { fallback: '3', meaning: 'of a round of wrk; ours sends as many requests as it did' },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
    seed: { fallback: '1', meaning: 'of the events' },
  },
  run: async (context) => {
    if (!hasWrk()) return { skipped: 'wrk is not installed' }
    const { folder, options } = context
    const cores = parseCores(options.cores ?? '')
    const dataDir = join(folder, 'data')
    const server = new ServerProcess({ dataDir, logPath: join(folder, 'server.log'), core: cores.server })
    const seed = integerOption(options, 'seed')
    const settings = { workload: options.workload ?? '', seed, projectApiKey }
    const generator = new LoadProcess(settings, cores.generator)
    try {
      return await onCore(cores.generator, () => takeTurns(context, server, generator))
    } finally {
      await server.kill()
      await killEmbeddedPostgres(dataDir)
      await generator.close()
    }
  },
}

async function takeTurns(
  { options, folder, say }: Context,
  server: ServerProcess,
  generator: LoadProcess,
): Promise<Outcome> {
  const workload = workloadNamed(options.workload ?? '')
  if (workload.eventCount !== 1 || workload.encoding !== 'plain')
    throw new Error(`--workload is ${options.workload}, expected one of single events that are not packed`)
  const corpus = createCorpus(integerOption(options, 'seed'), projectApiKey)
  const core = parseCores(options.cores ?? '').generator
  const [rounds, seconds] = [integerOption(options, 'rounds'), integerOption(options, 'seconds')]
  await server.accepting()
  const failures = new Map<number, number | null>()
  const stretches: { readonly first: number; readonly end: number; readonly acknowledged: number }[] = []
  const rates = { ours: [] as number[], wrk: [] as number[] }
  const { port } = server
  let sent = 0
  let refused = 0
  for (let round = -warmUps; round < rounds; round++) {
    const scriptPath = join(folder, 'wrk.lua')
    const found = runWrk({ corpus, workload, port, core, seconds, first: sent, scriptPath })
    stretches.push({ first: sent, end: found.end, acknowledged: found.acknowledged })
    for (let number = sent; number < found.end; number++) failures.set(number, null)
    sent = found.end
    refused += found.failed
    await waitUntilSettled(server)
    const load = { port, connections: workload.connections, requestsPerSecond: null }
    const own = await generator.send({ ...load, first: sent, count: found.acknowledged })
    for (const [number, status] of own.failures) failures.set(number, status)
    sent += found.acknowledged
    refused += own.failures.length
    await waitUntilSettled(server)
    const ours = (found.acknowledged * 1000) / (own.endMs - own.startMs)
    say(`wrk ${found.requestsPerSecond.toFixed(0)} requests/s, ours ${ours.toFixed(0)}`)
    if (round < 0) continue
    rates.wrk.push(found.requestsPerSecond)
    rates.ours.push(ours)
  }
  const { dataDir } = server
  await server.stop()
  const verdict = await judgeLoad(dataDir, { corpus, workload, count: sent, failures })
  let lost = 0
  for (const { first, end, acknowledged } of stretches)
    lost += Math.max(0, acknowledged - (await storedRequests(dataDir, first, end)))
  const ratios = rates.wrk.map((rate, round) => rate / rates.ours[round]!)
  return {
    rows: [
      { name: 'requests/s, our generator', value: describe(rates.ours, 0) },
      { name: 'requests/s, wrk', value: describe(rates.wrk, 0) },
      { name: 'wrk of ours', value: describe(ratios, 2) },
      {
        name: 'verified',
        value: `${verdict.acknowledgedEvents} events of ours, contents of ${verdict.comparedEvents}`,
      },
    ],
    broken: [
      ...brokenLoad(verdict),
      ...(lost === 0 ? [] : [`${lost} events that wrk saw acknowledged were lost`]),
      ...(refused === 0 ? [] : [`${refused} requests were not answered 200`]),
    ],
    slow: [],
  }
}

function describe(values: readonly number[], digits: number): string {
  const { median, min, max } = spreadOf(values)
  return `${median.toFixed(digits)} (${min.toFixed(digits)} to ${max.toFixed(digits)})`
}
