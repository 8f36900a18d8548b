// Runs the parts of the suite one after the other, and hands each over as soon as it is measured: whoever ends the run
// keeps what came before.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { examineMachine } from './machine-speed.ts'
import { parseCores } from './pinned.ts'
import type { Context } from './scenario.ts'
import { growthParts, measurePart, type PartContext, suiteParts } from './suite-part.ts'
import { type MeasuredPart, nothingFound, type PartFindings, type SuiteRun } from './suite-result.ts'

export interface SuitePlan extends Context {
  readonly run: SuiteRun
  readonly parts: readonly string[]
}

/** What measures a part, and the machine around it. */
export interface SuiteTools {
  readonly measure: typeof measurePart
  readonly examine: typeof examineMachine
}

/** "all", "growth", or parts with commas, in their order. Throws when there is no such part. */
export function readParts(text: string): string[] {
  const groups: Readonly<Record<string, readonly string[]>> = { all: suiteParts, growth: growthParts }
  const names = text.split(',').flatMap((name) => groups[name] ?? [name])
  const known = [...suiteParts, ...growthParts]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Error(`there is no part ${unknown}, only all, growth, ${known.join(', ')}`)
  return known.filter((name) => names.includes(name))
}

/** Each part's folder is removed when nothing of it is broken. */
export async function runSuite(
  plan: SuitePlan,
  finished: (part: MeasuredPart) => void,
  { measure, examine }: SuiteTools = { measure: measurePart, examine: examineMachine },
): Promise<void> {
  const { run, say } = plan
  const core = parseCores(plan.options.cores ?? '').server
  let stages: PartFindings['stages'] = {}
  let before = await examine(core)
  for (const name of plan.parts) {
    say(`${name} …`)
    const folder = join(plan.folder, name)
    mkdirSync(folder, { recursive: true })
    const context: PartContext = { ...plan, folder, isQuick: run.isQuick, stages }
    // The other parts still have something to say.
    const findings: PartFindings = await measure(name, context).catch(unfinished)
    const after = await examine(core)
    const speed = before === null || after === null ? null : { before, after }
    if (findings.broken.length === 0) rmSync(folder, { recursive: true, force: true })
    if (name === 'stages') stages = findings.stages
    finished({ name, run, ...findings, speed })
    before = after
  }
}

function unfinished(error: unknown): PartFindings {
  const what = error instanceof Error ? error.message : String(error)
  return { ...nothingFound, broken: [`it could not be finished: ${what}`] }
}
