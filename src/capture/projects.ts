// The projects a capture thread may store events for, as one shared memory block: a task carries a reference to the
// snapshot that was current when its request was admitted, so a change of settings never meets half a request, and
// threads that sleep between tasks need no message to learn of it.
//
// Layout: f64 version (unique in the process), then msgpack of CaptureProject[].

import { pack, unpack } from 'msgpackr'

/** What capture knows of a project. */
export interface CaptureProject {
  readonly id: number
  readonly apiKey: string
  /** The client's address is not stored. */
  readonly anonymizeIps: boolean
  /** The monthly quota is used up: realtime events are answered 200 and dropped. */
  readonly overQuota: boolean
}

let lastVersion = 0
let opened: { version: number; byApiKey: ReadonlyMap<string, CaptureProject> } = {
  version: 0,
  byApiKey: new Map(),
}

/** Builds a snapshot. Only the main thread does. */
export function encodeProjects(projects: readonly CaptureProject[]): SharedArrayBuffer {
  const packed = pack(projects)
  const snapshot = new SharedArrayBuffer(8 + packed.byteLength)
  new Float64Array(snapshot, 0, 1)[0] = ++lastVersion
  new Uint8Array(snapshot, 8).set(packed)
  return snapshot
}

/** Finds the project of a project API key. Unpacks a snapshot once per thread. */
export function findProject(snapshot: SharedArrayBuffer, apiKey: string): CaptureProject | null {
  const version = new Float64Array(snapshot, 0, 1)[0] as number
  if (opened.version !== version) {
    // Written by encodeProjects in this process.
    const projects = unpack(new Uint8Array(snapshot, 8).slice()) as CaptureProject[]
    opened = { version, byApiKey: new Map(projects.map((project) => [project.apiKey, project])) }
  }
  return opened.byApiKey.get(apiKey) ?? null
}
