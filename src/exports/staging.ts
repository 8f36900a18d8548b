// Staging files: what DuckDB has written and a destination has not taken yet. One folder a run, one file at a time.
// Nothing in them is needed after a crash: a chunk that was not committed is taken again.

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { StagedFormat } from './delivery.ts'

export class Staging {
  readonly #dir: string

  /** `dir` is `exportsDirOf` of the data folder. */
  constructor(dir: string) {
    this.#dir = dir
  }

  /** Removes what earlier processes have left. */
  async clear(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true })
    await mkdir(this.#dir, { recursive: true, mode: 0o700 })
  }

  /** Returns where the run's chunk of this index is to be staged. */
  async place(runId: string, index: number, { kind }: StagedFormat): Promise<string> {
    const folder = join(this.#dir, runId)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return join(folder, `${index}.${kind}`)
  }

  async remove(runId: string): Promise<void> {
    await rm(join(this.#dir, runId), { recursive: true, force: true })
  }
}
