// The workloads that are compared: who sends, what a request holds, how many make a sample.

import type { Lane } from '../src/journal/journal.ts'

export interface Workload {
  readonly title: string
  readonly lane: Lane
  readonly encoding: 'plain' | 'gzip' | 'lz64'
  /** Events of a request. */
  readonly eventCount: number
  /** How many of them tell who is who, beside the $identify that every corpus has. */
  readonly identityShare: number
  /** How many of them must be dropped. */
  readonly invalidShare: number
  /** Different requests; request number n says what request n % basisCount says, under uuids of its own. */
  readonly basisCount: number
  /** Request number n is for project n % projectCount. */
  readonly projectCount: number
  readonly connections: number
  /** Requests of a sample, and of a short one. */
  readonly requestCount: number
  readonly quickRequestCount: number
}

const singles: Workload = {
  title: 'single events to /capture/, 64 connections',
  lane: 'realtime',
  encoding: 'plain',
  eventCount: 1,
  identityShare: 0,
  invalidShare: 0,
  basisCount: 256,
  projectCount: 1,
  connections: 64,
  requestCount: 30_000,
  quickRequestCount: 4000,
}

const batches: Workload = {
  ...singles,
  title: 'batches of 20 as posthog-js sends them, gzip',
  encoding: 'gzip',
  eventCount: 20,
  connections: 32,
  requestCount: 3000,
  quickRequestCount: 300,
}

const large: Workload = {
  ...batches,
  title: 'batches of 1000 as busy servers send them, gzip',
  eventCount: 1000,
  basisCount: 64,
  connections: 8,
  requestCount: 100,
  quickRequestCount: 12,
}

/** Nobody identifies twice for the same reason: each of these requests is drawn anew. */
const neverAgain = 1 << 20

/** By the names that the suite's table gives them. */
export const workloads = {
  w1: singles,
  'w1-256': { ...singles, title: 'single events to /capture/, 256 connections', connections: 256 },
  w2: batches,
  w3: large,
  w4: {
    ...large,
    title: 'historical bodies of 19 MB gzip, 120,000 events each',
    lane: 'historical',
    eventCount: 120_000,
    basisCount: 1,
    connections: 1,
    requestCount: 1,
    quickRequestCount: 1,
  },
  'w4-plain': {
    ...large,
    title: 'historical bodies of 19 MB plain JSON, 15,000 events each',
    lane: 'historical',
    encoding: 'plain',
    eventCount: 15_000,
    basisCount: 4,
    connections: 2,
    requestCount: 3,
    quickRequestCount: 2,
  },
  w5: {
    ...batches,
    title: 'batches of 20 in lz64, as old posthog-js sends them',
    encoding: 'lz64',
    requestCount: 500,
    quickRequestCount: 100,
  },
  'w5-single': {
    ...singles,
    title: 'single events in lz64',
    encoding: 'lz64',
    requestCount: 12_000,
    quickRequestCount: 1000,
  },
  w8: {
    ...large,
    title: 'batches of 1000, 10 % identity events',
    identityShare: 0.1,
    basisCount: neverAgain,
    requestCount: 50,
  },
  w9: { ...large, title: 'batches of 1000, 10 % invalid events', invalidShare: 0.1, requestCount: 50 },
} as const satisfies Record<string, Workload>

export type WorkloadName = keyof typeof workloads

const largestBatch = 18_000
/** Their numbers take the place of the last digits of a key. */
const projectsMax = 100_000
/** A sample of any size of batch holds about so many events. */
const batchSampleEvents = 36_000

/**
 * A workload by its name, `batch-N` for gzip batches of N events, or `projects-N` for single events of N projects.
 * Throws when there is no such workload.
 */
export function workloadNamed(name: string): Workload {
  const size = Number(/^batch-(\d+)$/.exec(name)?.[1] ?? 0)
  if (size > 0 && size <= largestBatch) return batchesOf(size)
  const projectCount = Number(/^projects-(\d+)$/.exec(name)?.[1] ?? 0)
  if (projectCount > 0 && projectCount <= projectsMax)
    return { ...singles, title: `single events of ${projectCount} projects in turn`, projectCount }
  const found = Object.entries(workloads).find(([one]) => one === name)
  if (found === undefined)
    throw new Error(
      `there is no workload ${name}, only ${Object.keys(workloads).join(', ')}, batch-N and projects-N`,
    )
  return found[1]
}

function batchesOf(eventCount: number): Workload {
  const requestCount = Math.ceil(batchSampleEvents / eventCount)
  return {
    ...large,
    title: `gzip batches of ${eventCount}`,
    eventCount,
    basisCount: Math.min(256, Math.ceil(64_000 / eventCount)),
    connections: eventCount >= 1000 ? 4 : 32,
    requestCount,
    quickRequestCount: Math.ceil(requestCount / 6),
  }
}

/** The API key of a project of the load: as long as `first`, the first one's, so that a generator writes it over. */
export function projectKeyOf(first: string, project: number): string {
  const digits = String(project)
  return project === 0 ? first : first.slice(0, -digits.length) + digits
}
