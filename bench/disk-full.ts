// What happens when the disk is full?
//
// The data folder lies on a disk image. Under load the disk is filled, now at once, now to a small rest that the load
// uses up. The server must refuse with 503 and go on running, and must accept again by itself soon after space is
// free. In the end nothing that was acknowledged may be missing.

import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatBytes } from '../src/lib/bytes.ts'
import { machineMs } from './clock.ts'
import { DiskImage, diskImageProblem } from './disk-image.ts'
import { type Context, describeTimes, integerOption, type Outcome, type Scenario } from './scenario.ts'
import { sendSentinel, waitUntilApplied } from './sentinel.ts'
import { Subject } from './subject.ts'
import { brokenPromises, describeVerdict } from './verdict.ts'
import { waitFor } from './wait.ts'

const MiB = 1024 ** 2
const diskBytes = 8 * 1024 * MiB
/** What a disk that is filled slowly keeps for the load. */
const restBytes = 32 * MiB
const refuseMsMax = 60_000
const refusedMs = 2000
const resumeMsMax = 5000

export const diskFull: Scenario = {
  question:
    'is an acknowledged event ever lost when the disk is full, and does the server recover by itself?',
  options: {
    cycles: { fallback: '6', meaning: 'times the disk is filled' },
    seed: { fallback: '1', meaning: 'of the load' },
  },
  run: async (context) => {
    const problem = diskImageProblem()
    if (problem !== null) return { skipped: problem }
    const disk = DiskImage.create(context.folder, diskBytes)
    const subject = new Subject(
      context.folder,
      join(disk.path, 'data'),
      integerOption(context.options, 'seed'),
    )
    try {
      return await fillAndFree(context, disk, subject)
    } finally {
      await subject.close()
      await disk.unmount()
    }
  },
}

async function fillAndFree({ options, say }: Context, disk: DiskImage, subject: Subject): Promise<Outcome> {
  const cycles = integerOption(options, 'cycles')
  const refusalMs: number[] = []
  const resumeMs: number[] = []
  const broken: string[] = []
  await subject.server.accepting()
  await waitUntilApplied(subject.server)
  subject.beginLoad()
  for (let cycle = 0; cycle < cycles && broken.length === 0; cycle++) {
    const rest = cycle % 2 === 0 ? 0 : restBytes
    disk.fill(rest)
    const filledMs = machineMs()
    await waitFor('a full disk makes the server refuse', refuseMsMax, () => refuses(subject))
    if (rest === 0) refusalMs.push(machineMs() - filledMs)
    await delay(refusedMs)
    disk.empty()
    const freedMs = machineMs()
    await waitFor('a disk with space makes the server accept', resumeMsMax * 4, () => accepts(subject))
    resumeMs.push(machineMs() - freedMs)
    say(`filled to ${formatBytes(rest)}: accepts again after ${resumeMs.at(-1)?.toFixed(0)} ms`)
  }
  await subject.endLoad()
  const verdict = await subject.judge(true)
  const slowestMs = Math.max(...resumeMs)
  return {
    rows: [
      { name: 'disk filled', value: `${cycles} times` },
      { name: 'full at once to refusing', value: describeTimes(refusalMs) },
      { name: 'space to accepting', value: describeTimes(resumeMs) },
      ...describeVerdict(verdict),
    ],
    broken: [...broken, ...brokenPromises(verdict)],
    slow:
      slowestMs > resumeMsMax
        ? [
            `the server accepted ${slowestMs.toFixed(0)} ms after space was free, at most ${resumeMsMax} expected`,
          ]
        : [],
  }
}

async function refuses({ server }: Subject): Promise<true | null> {
  if (!server.isRunning) throw server.failure('the server ended because its disk was full')
  return (await sendSentinel(server, 'realtime', 'disk-full')) ? null : true
}

async function accepts({ server }: Subject): Promise<true | null> {
  if (!server.isRunning) throw server.failure('the server ended because its disk was full')
  return (await sendSentinel(server, 'realtime', 'disk-full')) ? true : null
}
