// How does the server compare with other ways to take the same events in?
//
// Every peer has the server's core and gets the same requests in turn, sample by sample; afterwards each event must be
// found once. Mind what each acknowledgement means: only some of them survive a power cut.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createCorpus } from './corpus.ts'
import { type Spread, spreadOf } from './ingest-figures.ts'
import { ClosedPacing } from './pacing.ts'
import type { OpenPeer, Peer, PeerRequests } from './peer.ts'
import { openClickhouse } from './peer-clickhouse.ts'
import { openNodeDuckdb, openNodePostgres } from './peer-node.ts'
import { openSpate } from './peer-spate.ts'
import { coreSeconds, parseCores } from './pinned.ts'
import { RequestBytes } from './request-bytes.ts'
import { runLoop } from './request-loop.ts'
import { type Context, integerOption, type Outcome, type ResultRow, type Scenario } from './scenario.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

const peers: Readonly<Record<string, OpenPeer>> = {
  spate: openSpate,
  node: openNodeDuckdb,
  postgres: openNodePostgres,
  clickhouse: openClickhouse,
}

interface Sample {
  readonly ackedPerSecond: number
  /** µs of processor time an event, until everything is where queries find it. */
  readonly cpuMicros: number
}

interface Measured {
  readonly peer: Peer
  readonly samples: Sample[]
}

export const vs: Scenario = {
  question: 'how does the server compare with other ways to take the same events in?',
  options: {
    workload: { fallback: 'w3,w2,w1', meaning: 'one or more, with commas' },
    peers: { fallback: Object.keys(peers).join(','), meaning: 'that take turns' },
    samples: { fallback: '5', meaning: 'of each' },
    share: { fallback: '0.25', meaning: "of a workload's sample" },
    cores: { fallback: '0,1', meaning: "the server's and the generator's, or none" },
  },
  run: async (context) => {
    const rows: ResultRow[] = []
    const broken: string[] = []
    for (const name of (context.options.workload ?? '').split(',')) await compare(context, name, rows, broken)
    return { rows, broken, slow: [] } satisfies Outcome
  },
}

async function compare(
  { options, folder, say }: Context,
  name: string,
  rows: ResultRow[],
  broken: string[],
): Promise<void> {
  const workload = workloadNamed(name)
  const core = parseCores(options.cores ?? '').server
  const perSample = Math.max(1, Math.round(workload.requestCount * Number(options.share)))
  const rounds = integerOption(options, 'samples') + 1
  const corpus = createCorpus(1, projectApiKey)
  const capture = new RequestBytes(corpus, workload)
  const requests: PeerRequests = { capture, corpus, workload, count: perSample * rounds }
  capture.prepare(requests.count)
  const all: Measured[] = []
  try {
    for (const peerName of (options.peers ?? '').split(',')) {
      const open = peers[peerName]
      if (open === undefined)
        throw new Error(`there is no peer ${peerName}, only ${Object.keys(peers).join(', ')}`)
      const place = join(folder, name, peerName)
      mkdirSync(place, { recursive: true })
      const peer = await open(place, core, requests)
      if ('missing' in peer) say(`${peerName} is left out: ${peer.missing}`)
      else all.push({ peer, samples: [] })
    }
    for (let round = 0; round < rounds; round++) {
      for (const { peer, samples } of all) {
        const sample = await measure(peer, round * perSample, perSample, workload, core, broken)
        // The first round warms up.
        if (round > 0) samples.push(sample)
        say(
          `${name} ${peer.name}: ${Math.round(sample.ackedPerSecond)} events/s, ${sample.cpuMicros.toFixed(0)} µs`,
        )
      }
    }
    const expected = requests.count * workload.eventCount
    for (const { peer, samples } of all) {
      const { events, distinctEvents } = await peer.count()
      if (events !== expected || distinctEvents !== expected)
        broken.push(
          `${name}: ${peer.name} has ${events} events, ${distinctEvents} different ones, not ${expected}`,
        )
      rows.push(describe(name, peer, samples, all[0]!.samples))
    }
  } finally {
    for (const { peer } of all) await peer.close()
  }
}

async function measure(
  peer: Peer,
  first: number,
  count: number,
  { connections, eventCount }: { readonly connections: number; readonly eventCount: number },
  core: number | null,
  broken: string[],
): Promise<Sample> {
  let refused = 0
  const cpu = peer.cpuSeconds()
  const busy = core === null ? 0 : coreSeconds(core)
  const { startMs, endMs } = await runLoop(new ClosedPacing(first, count), {
    port: peer.port,
    connections,
    count,
    bytesOf: (number) => peer.bytesOf(number),
    answered: (_, status) => {
      if (status !== 200) refused++
    },
  })
  const seconds = (endMs - startMs) / 1000
  const stolen = core === null ? 0 : coreSeconds(core) - busy - (peer.cpuSeconds() - cpu)
  await peer.settle()
  if (refused > 0) broken.push(`${peer.name} did not take ${refused} of ${count} requests`)
  const events = count * eventCount
  return {
    ackedPerSecond: events / Math.max(seconds - Math.max(0, stolen), seconds / 100),
    cpuMicros: ((peer.cpuSeconds() - cpu) * 1e6) / events,
  }
}

function describe(name: string, peer: Peer, samples: readonly Sample[], ours: readonly Sample[]): ResultRow {
  const micros = spreadOf(samples.map(({ cpuMicros }) => cpuMicros))
  const rate = spreadOf(samples.map(({ ackedPerSecond }) => ackedPerSecond))
  const times = spreadOf(samples.map(({ cpuMicros }, index) => cpuMicros / ours[index]!.cpuMicros)).median
  const figures = `${printSpread(micros)} µs CPU an event, ${printSpread(rate)} events/s acked`
  return {
    name: `${name} ${peer.name}`,
    value: `${figures}; ${times.toFixed(2)}× the first; ack: ${peer.ack}`,
  }
}

function printSpread({ median, min, max }: Spread): string {
  const [middle, low, high] = [median, min, max].map((value) =>
    value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en-US'),
  )
  return `${middle} (${low} to ${high})`
}
