// The server and its peers on one workload: each has the server's core and gets the same requests in turn, sample by
// sample; afterwards each event must be found once. A peer that fails is left out with its reason.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { machineMs } from './clock.ts'
import { createCorpus } from './corpus.ts'
import { type Spread, spreadOf } from './ingest-figures.ts'
import { ClosedPacing } from './pacing.ts'
import type { OpenPeer, Peer, PeerRequests } from './peer.ts'
import { openClickhouse } from './peer-clickhouse.ts'
import { openNodeDuckdb, openNodePostgres } from './peer-node.ts'
import { openSpate } from './peer-spate.ts'
import { coreSeconds } from './pinned.ts'
import { RequestBytes } from './request-bytes.ts'
import { runLoop } from './request-loop.ts'
import { projectApiKey } from './server-process.ts'
import { workloadNamed } from './workload.ts'

export const peers: Readonly<Record<string, OpenPeer>> = {
  spate: openSpate,
  node: openNodeDuckdb,
  postgres: openNodePostgres,
  clickhouse: openClickhouse,
}

export interface PeerPlan {
  readonly workload: string
  /** By their names in `peers`; the others are compared with the first. */
  readonly names: readonly string[]
  /** Of each, once it is warm. */
  readonly samples: number
  /** How much of a workload's sample is one. */
  readonly share: number
  readonly core: number | null
}

/** What one of them took for the events of one workload. */
export interface PeerFigure {
  readonly workload: string
  readonly peer: string
  /** What is true once a request is answered 200. */
  readonly ack: string
  /** Null: it did not take each event once, `fault` says why. */
  readonly taken: PeerTaken | null
  readonly fault: string | null
  /** True: this machine does not have it. */
  readonly isMissing: boolean
}

export interface PeerTaken {
  /** µs of processor time an event, until everything is where queries find it. */
  readonly cpuMicros: Spread
  readonly ackedPerSecond: Spread
  /** Its processor time of the first's, sample by sample. Null when the first failed. */
  readonly ofFirst: Spread | null
}

interface Sample {
  readonly ackedPerSecond: number
  readonly cpuMicros: number
}

interface Measured {
  readonly peer: Peer
  readonly samples: Sample[]
  /** Requests so far: the number of the next one. */
  sent: number
  fault: string | null
}

/**
 * Before the samples, while code is compiled and compiled again: so much processor time of its own, or so many requests
 * as of samples. Where the core is others', no longer than this.
 */
const warmUpCpuSeconds = 3
const warmUpsMax = 8
const warmUpMsMax = 20_000

/** Runs them all, and returns a figure each, in the order of their names. */
export async function comparePeers(
  plan: PeerPlan,
  folder: string,
  say: (line: string) => void,
): Promise<PeerFigure[]> {
  const workload = workloadNamed(plan.workload)
  const perSample = Math.max(1, Math.round(workload.requestCount * plan.share))
  const countMax = perSample * (warmUpsMax + plan.samples)
  const corpus = createCorpus(1, projectApiKey)
  const capture = new RequestBytes(corpus, workload)
  const requests: PeerRequests = { capture, corpus, workload, count: countMax }
  capture.prepare(countMax)
  const all: Measured[] = []
  const absent: PeerFigure[] = []
  try {
    for (const name of plan.names) {
      const opened = open(name, join(folder, plan.workload, name), plan.core, requests)
      // Without the first there is nothing to compare with.
      const peer = await (all.length === 0 ? opened : opened.catch(wordsOf))
      if (typeof peer === 'object' && !('missing' in peer))
        all.push({ peer, samples: [], sent: 0, fault: null })
      else absent.push(absentPeer(plan.workload, name, peer))
    }
    for (const { peer, fault } of absent) say(`${plan.workload} ${peer} is left out: ${fault}`)
    for (const one of all) await warmUp(one, perSample, plan, say)
    for (let round = 0; round < plan.samples; round++) {
      for (const one of all) await takeTurn(one, perSample, plan, say)
    }
    for (const one of all) one.fault ??= await countFault(one.peer, one.sent * workload.eventCount)
    return [...all.map((one) => figureOf(plan.workload, one, all[0]!)), ...absent]
  } finally {
    for (const { peer } of all) await peer.close()
  }
}

async function open(
  name: string,
  folder: string,
  core: number | null,
  requests: PeerRequests,
): ReturnType<OpenPeer> {
  const openPeer = peers[name]
  if (openPeer === undefined)
    throw new Error(`there is no peer ${name}, only ${Object.keys(peers).join(', ')}`)
  mkdirSync(folder, { recursive: true })
  return await openPeer(folder, core, requests)
}

async function warmUp(
  one: Measured,
  perSample: number,
  plan: PeerPlan,
  say: (line: string) => void,
): Promise<void> {
  const endMs = machineMs() + warmUpMsMax
  const endSeconds = one.peer.cpuSeconds() + warmUpCpuSeconds
  const isWarm = (): boolean => one.peer.cpuSeconds() >= endSeconds || machineMs() >= endMs
  for (let round = 0; round < warmUpsMax && !isWarm(); round++) await takeTurn(one, perSample, plan, say)
  one.samples.length = 0
}

async function takeTurn(
  one: Measured,
  count: number,
  { workload, core }: PeerPlan,
  say: (line: string) => void,
): Promise<void> {
  if (one.fault !== null) return
  try {
    const sample = await measure(one, count, workload, core)
    one.samples.push(sample)
    const rate = Math.round(sample.ackedPerSecond)
    say(`${workload} ${one.peer.name}: ${rate} events/s, ${sample.cpuMicros.toFixed(0)} µs`)
  } catch (error) {
    one.fault = wordsOf(error)
  }
  if (one.fault !== null) say(`${workload} ${one.peer.name} is left out: ${one.fault}`)
}

async function measure(one: Measured, count: number, workload: string, core: number | null): Promise<Sample> {
  const { peer } = one
  const { connections, eventCount } = workloadNamed(workload)
  let refused = 0
  const cpu = peer.cpuSeconds()
  const busy = core === null ? 0 : coreSeconds(core)
  const first = one.sent
  one.sent += count
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
  if (refused > 0) one.fault = `it did not take ${refused} of ${count} requests`
  const events = count * eventCount
  return {
    ackedPerSecond: events / Math.max(seconds - Math.max(0, stolen), seconds / 100),
    cpuMicros: ((peer.cpuSeconds() - cpu) * 1e6) / events,
  }
}

async function countFault(peer: Peer, expected: number): Promise<string | null> {
  try {
    const { events, distinctEvents } = await peer.count()
    if (events === expected && distinctEvents === expected) return null
    return `it has ${events} events, ${distinctEvents} different ones, not ${expected}`
  } catch (error) {
    return `it could not be asked what it has: ${wordsOf(error)}`
  }
}

function figureOf(workload: string, { peer, samples, fault }: Measured, first: Measured): PeerFigure {
  const named = { workload, peer: peer.name, ack: peer.ack, fault, isMissing: false }
  if (fault !== null) return { ...named, taken: null }
  const ofFirst = samples.map(({ cpuMicros }, index) => cpuMicros / (first.samples[index]?.cpuMicros ?? 0))
  return {
    ...named,
    taken: {
      cpuMicros: spreadOf(samples.map(({ cpuMicros }) => cpuMicros)),
      ackedPerSecond: spreadOf(samples.map(({ ackedPerSecond }) => ackedPerSecond)),
      ofFirst: first.fault === null ? spreadOf(ofFirst) : null,
    },
  }
}

/** Not installed, or in words why it did not start. */
function absentPeer(
  workload: string,
  peer: string,
  reason: string | { readonly missing: string },
): PeerFigure {
  const isMissing = typeof reason === 'object'
  const fault = isMissing ? reason.missing : `it did not start: ${reason}`
  return { workload, peer, ack: '', taken: null, fault, isMissing }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message.split('\n', 1)[0]! : String(error)
}
