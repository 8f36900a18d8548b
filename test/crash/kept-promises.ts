// Runs a scenario of the bench as a test: all its promises must be kept.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { Outcome, Scenario } from '../../bench/scenario.ts'

/** Fails for every broken promise; the run's files are kept then, and removed otherwise. */
export async function checkPromises(
  t: Test,
  scenario: Scenario,
  options: Readonly<Record<string, string>>,
): Promise<Outcome> {
  // Not a folder of tap's: that would be removed while a disk may still be mounted in it.
  const folder = mkdtempSync(join(tmpdir(), 'spate-crash-'))
  const defaults = Object.entries(scenario.options).map(([name, { fallback }]) => [name, fallback])
  const outcome = await scenario.run({
    options: { ...Object.fromEntries(defaults), ...options },
    folder,
    say: (line) => t.comment(line),
  })
  if ('skipped' in outcome) throw new Error(`skipped: ${outcome.skipped}`)
  for (const { name, value } of outcome.rows) t.comment(`${name}: ${value}`)
  for (const line of outcome.slow) t.comment(`slow: ${line}`)
  t.same(outcome.broken, [], `all promises are kept, or the run's files are in ${folder}`)
  if (outcome.broken.length === 0) rmSync(folder, { recursive: true })
  return outcome
}

/** The value of a row of the result. */
export function rowOf({ rows }: Outcome, name: string): string {
  return rows.find((row) => row.name === name)?.value ?? ''
}
