// Is an acknowledged event ever lost when the power fails?
//
// The data folder lies on a disk image. Every cycle loads a server, cuts the disk's power (what was written and not
// synced is gone), kills the server and its Postgres, and mounts the disk again. Only answers that came before the cut
// began count as acknowledged. A control program that only writes and syncs runs beside the server: when it loses
// something too, the machine breaks its word, not the server.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { machineMs } from './clock.ts'
import { countLostRecords } from './control.ts'
import { DiskImage, diskImageProblem } from './disk-image.ts'
import { createRandom, type Random } from './random.ts'
import { type Context, describeTimes, integerOption, type Outcome, type Scenario } from './scenario.ts'
import { killEmbeddedPostgres } from './server-process.ts'
import { Subject } from './subject.ts'
import { brokenPromises, describeVerdict, type Verdict } from './verdict.ts'
import { waitFor } from './wait.ts'

const diskBytes = 8 * 1024 ** 3
const controlMsMax = 10_000
const loadMsMin = 200
const loadMsMax = 1500

export const powerCut: Scenario = {
  question: 'is an acknowledged event ever lost when the power fails?',
  options: {
    cycles: { fallback: '20', meaning: 'power cuts' },
    'judge-every': { fallback: '5', meaning: 'cycles from one judgement of the store to the next' },
    seed: { fallback: '1', meaning: 'of the load and of the moments of the cuts' },
  },
  run: async (context) => {
    const problem = diskImageProblem()
    if (problem !== null) return { skipped: problem }
    const disk = DiskImage.create(context.folder, diskBytes)
    const run = new PowerCutRun(context, disk)
    try {
      return await run.run()
    } finally {
      await run.close()
    }
  },
}

class PowerCutRun {
  readonly #context: Context
  readonly #random: Random
  readonly #disk: DiskImage
  readonly #subject: Subject
  #cutCount = 0
  #controlLost = 0

  constructor(context: Context, disk: DiskImage) {
    const seed = integerOption(context.options, 'seed')
    this.#context = context
    this.#random = createRandom(seed, 2)
    this.#disk = disk
    this.#subject = new Subject(context.folder, join(disk.path, 'data'), seed)
  }

  async run(): Promise<Outcome> {
    const cycles = integerOption(this.#context.options, 'cycles')
    const judgeEvery = integerOption(this.#context.options, 'judge-every')
    await this.#subject.server.accepting()
    await this.#subject.server.stop()
    for (let cycle = 1; ; cycle++) {
      await this.#loadAndCut()
      const isLast = cycle === cycles
      if (!isLast && cycle % judgeEvery !== 0) continue
      await this.#subject.start()
      const verdict = await this.#subject.judge(isLast)
      const broken = [...brokenPromises(verdict), ...this.#controlProblem()]
      this.#context.say(`${cycle} of ${cycles} power cuts: ${broken[0] ?? 'every event is where it belongs'}`)
      if (isLast || broken.length > 0) return this.#outcome(verdict, broken)
    }
  }

  async close(): Promise<void> {
    await this.#subject.close()
    await this.#disk.unmount()
  }

  async #loadAndCut(): Promise<void> {
    const subject = this.#subject
    await subject.start()
    const controlPath = join(this.#disk.path, 'control')
    const notesPath = join(this.#context.folder, 'control-notes')
    rmSync(notesPath, { force: true })
    const script = fileURLToPath(new URL('./control-writer.js', import.meta.url))
    const control = spawn(process.execPath, [script, controlPath, notesPath], { stdio: 'inherit' })
    const controlEnded = once(control, 'exit')
    await waitFor('the control syncs', controlMsMax, () =>
      (statSync(notesPath, { throwIfNoEntry: false })?.size ?? 0) > 0 ? true : null,
    )
    subject.beginLoad()
    await delay(this.#random.between(loadMsMin, loadMsMax))
    const fromMs = this.#disk.cutPower()
    await subject.server.kill()
    await subject.endLoad()
    // A busy client reads what the dying server said only after its death: the cut lasts until the load has ended.
    subject.noteCut({ fromMs, toMs: machineMs() })
    await killEmbeddedPostgres(subject.dataDir)
    await controlEnded
    await this.#disk.unmount()
    this.#disk.mount()
    this.#cutCount++
    this.#controlLost += countLostRecords(controlPath, notesPath, fromMs)
  }

  #controlProblem(): string[] {
    return this.#controlLost === 0
      ? []
      : [`the control lost ${this.#controlLost} synced records: this machine cannot be judged`]
  }

  #outcome(verdict: Verdict, broken: string[]): Outcome {
    return {
      rows: [
        { name: 'power cuts', value: String(this.#cutCount) },
        ...describeVerdict(verdict),
        { name: 'lost by the control', value: String(this.#controlLost) },
        { name: 'restart to accepting', value: describeTimes(this.#subject.acceptMs) },
      ],
      broken,
      slow: [],
    }
  }
}
