// wrk as a second generator of single events. It cannot tell which of its requests were answered, only how many.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Corpus } from './corpus.ts'
import { pinned } from './pinned.ts'
import { RequestBytes } from './request-bytes.ts'
import type { Workload } from './workload.ts'

export interface WrkLoad {
  readonly corpus: Corpus
  /** Of single events that are not packed. */
  readonly workload: Workload
  readonly port: number
  readonly core: number | null
  readonly seconds: number
  /** Number of the first request. */
  readonly first: number
  /** Where its script is written. */
  readonly scriptPath: string
}

export interface WrkReport {
  readonly requestsPerSecond: number
  /** Requests that were answered 200. */
  readonly acknowledged: number
  /** Otherwise, or not at all although wrk waited. */
  readonly failed: number
  /** One more than the greatest number of a request that may have been sent. */
  readonly end: number
}

export function hasWrk(): boolean {
  try {
    execFileSync('sh', ['-c', 'command -v wrk'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Sends as fast as answers come. At the end as many requests as there are connections stay without an answer. */
export function runWrk({ corpus, workload, port, core, seconds, first, scriptPath }: WrkLoad): WrkReport {
  writeFileSync(scriptPath, script(corpus, workload, first))
  const [command, ...args] = pinned(core, [
    'wrk',
    '--threads=1',
    `--connections=${workload.connections}`,
    `--duration=${seconds}s`,
    '--timeout=10s',
    `--script=${scriptPath}`,
    `http://127.0.0.1:${port}/capture/`,
  ])
  const output = execFileSync(command!, args, { encoding: 'utf8' }) // pinned keeps the command
  const found = /^found (\d+) (\d+) (\d+) (\d+)$/m.exec(output)
  if (found === null) throw new Error(`wrk printed no result:\n${output}`)
  const [micros, answers, failed, end] = found.slice(1).map(Number) as [number, number, number, number]
  return { requestsPerSecond: (answers * 1e6) / micros, acknowledged: answers - failed, failed, end }
}

/** Lua that puts each request's number into the text of its basis, as PatchableText does. */
function script(corpus: Corpus, workload: Workload, first: number): string {
  const bytes = new RequestBytes(corpus, workload)
  const bodies = Array.from(
    { length: workload.basisCount },
    (_, basis) => `{${bytes.slotsOf(basis).map(quoted).join(',')}}`,
  )
  return `
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
number = ${first}
local bodies = {${bodies.join(',\n')}}
local threads = {}
function setup(thread) threads[#threads + 1] = thread end
function request()
  local body = table.concat(bodies[number % ${workload.basisCount} + 1], string.format("%06x", number))
  number = number + 1
  return wrk.format(nil, nil, nil, body)
end
function done(summary)
  local errors = summary.errors
  local failed = errors.status + errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format("found %d %d %d %d\\n", summary.duration, summary.requests, failed, threads[1]:get("number")))
end
`
}

/** A text of one line as Lua writes it. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
