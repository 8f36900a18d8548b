// npm run bench -- <scenario> [--option value …]
//
// Runs one scenario against a real server and prints what it found, with everything a result depends on. Exit code 1:
// a promise was broken (the run's folder is kept); 2: usage; 0 otherwise. Without arguments it lists the scenarios.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bulk } from './bulk.ts'
import { crash } from './crash.ts'
import { decide } from './decide.ts'
import { diskFull } from './disk-full.ts'
import { exportCrash } from './export-crash.ts'
import { exports } from './exports.ts'
import { growth } from './growth.ts'
import { identity } from './identity.ts'
import { ingest } from './ingest.ts'
import { limit } from './limit.ts'
import { lists } from './lists.ts'
import { describeMachine } from './machine.ts'
import { mixed } from './mixed.ts'
import { outage } from './outage.ts'
import { peak } from './peak.ts'
import { persons } from './persons.ts'
import { powerCut } from './power-cut.ts'
import type { Options, Outcome, Scenario } from './scenario.ts'
import { stages } from './stages.ts'
import { suite } from './suite.ts'
import { vs } from './vs.ts'

/** Every scenario by the name it is called by. A new one is a file and a line here. */
const scenarios: Readonly<Record<string, Scenario>> = {
  suite,
  ingest,
  limit,
  peak,
  vs,
  stages,
  growth,
  crash,
  powercut: powerCut,
  diskfull: diskFull,
  outage,
  bulk,
  identity,
  persons,
  decide,
  mixed,
  lists,
  exports,
  exportcrash: exportCrash,
}

process.exitCode = await main(process.argv.slice(2))

async function main([name, ...args]: string[]): Promise<number> {
  const scenario = scenarios[name ?? '']
  if (name === undefined) {
    console.log(usage())
    return 0
  }
  if (scenario === undefined) {
    console.error(`There is no scenario ${JSON.stringify(name)}.\n\n${usage()}`)
    return 2
  }
  const options = readOptions(scenario, args)
  if (typeof options === 'string') {
    console.error(options)
    return 2
  }
  return await run(name, scenario, options)
}

async function run(name: string, scenario: Scenario, options: Options): Promise<number> {
  const settings = Object.entries(options).map(([option, value]) => `--${option} ${value}`)
  console.log(`${name}: ${scenario.question}\n${describeMachine()}\n${settings.join(' ')}\n`)
  const folder = mkdtempSync(join(tmpdir(), 'spate-bench-'))
  const outcome = await scenario.run({ options, folder, say: console.log }).catch(unfinished)
  if ('skipped' in outcome) {
    console.log(`skipped: ${outcome.skipped}`)
    rmSync(folder, { recursive: true })
    return 0
  }
  printOutcome(outcome)
  if (outcome.broken.length > 0) {
    console.log(`The run's files are in ${folder}`)
    return 1
  }
  rmSync(folder, { recursive: true, force: true })
  return 0
}

/** A run that throws has shown nothing: the server did something that no scenario expects. */
function unfinished(error: unknown): Outcome {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { rows: [], broken: [`the run could not be finished: ${what}`], slow: [] }
}

function printOutcome({ rows, broken, slow }: Outcome): void {
  const width = Math.max(0, ...rows.map(({ name }) => name.length))
  console.log('')
  for (const { name, value } of rows) console.log(`${name.padEnd(width)}  ${value}`)
  console.log('')
  for (const line of broken) console.log(`BROKEN: ${line}`)
  for (const line of slow) console.log(`SLOW: ${line}`)
  if (broken.length === 0) console.log('All promises were kept.')
}

/** The options of a run, or what is wrong with the arguments. */
function readOptions(scenario: Scenario, args: string[]): Options | string {
  const entries = Object.entries(scenario.options)
  try {
    const { values } = parseArgs({
      args,
      options: Object.fromEntries(entries.map(([name]) => [name, { type: 'string' as const }])),
    })
    return Object.fromEntries(entries.map(([name, { fallback }]) => [name, values[name] ?? fallback]))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function usage(): string {
  const lines = ['Usage: npm run bench -- <scenario> [--option value …]', '']
  for (const [name, { question, options }] of Object.entries(scenarios)) {
    lines.push(`${name}: ${question}`)
    for (const [option, { fallback, meaning }] of Object.entries(options))
      lines.push(`    --${option} ${fallback}`.padEnd(26) + meaning)
  }
  return lines.join('\n')
}
