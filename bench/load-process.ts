// The generator as a scenario sees it.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { GeneratorCommand, GeneratorDone, GeneratorSettings, LoadReport } from './load-generator.ts'
import { pinned } from './pinned.ts'

export class LoadProcess {
  readonly #child: ChildProcess

  /** Starts a generator on a core, null: on any. */
  constructor(settings: GeneratorSettings, core: number | null) {
    const script = fileURLToPath(new URL('./load-generator.js', import.meta.url))
    const [command, ...args] = pinned(core, [
      process.execPath,
      '--enable-source-maps',
      '--max-semi-space-size=64',
      script,
      JSON.stringify(settings),
    ])
    this.#child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  }

  /** Packs `count` requests from `first` on ahead. */
  async prepare(count: number, first = 0): Promise<void> {
    await this.#command({ kind: 'prepare', first, count })
  }

  async send(load: Omit<Extract<GeneratorCommand, { kind: 'send' }>, 'kind'>): Promise<LoadReport> {
    const { report } = await this.#command({ kind: 'send', ...load })
    if (report === null) throw new Error('the generator reported nothing')
    return report
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }

  async #command(command: GeneratorCommand): Promise<GeneratorDone> {
    this.#child.send(command)
    const done = await new Promise<GeneratorDone>((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`the generator ended with code ${code}`))
      this.#child.once('exit', onExit)
      this.#child.once('message', (message: GeneratorDone) => {
        this.#child.off('exit', onExit)
        resolve(message)
      })
    })
    if (done.problem !== null) throw new Error(`the generator: ${done.problem}`)
    return done
  }
}
