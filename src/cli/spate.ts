#!/usr/bin/env node
// The command line. Answers go to stdout, logs to stderr; exit codes are those of errors.ts, 2 for wrong usage.

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError, Option } from 'commander'
import { loadConfig, loadDotEnv } from '../config.ts'
import { errorRow, isServiceError } from '../errors.ts'
import { systemClock } from '../lib/clock.ts'
import { supervise } from '../supervisor.ts'
import { openLog } from '../telemetry/log.ts'
import { runDoctor } from './doctor.ts'
import { runExplain } from './explain.ts'
import { runKeysCreate, runKeysList, runKeysRevoke } from './keys.ts'
import { levelNames, type NewMember, runMembersAdd } from './members.ts'
import { runMigrate } from './migrate.ts'
import { type QueryFormat, queryFormats, refusalOf, runQuery } from './query.ts'
import { runReseal } from './reseal.ts'
import type { ServerAddress } from './server-client.ts'

const exitUsage = 2

type QueryFlags = ServerAddress & { project?: string; format: QueryFormat; output?: string }

const program = new Command('spate')
  .description(
    "A product-analytics ingestion engine that speaks PostHog's public API. Settings come from the environment.",
  )
  .exitOverride()

program
  .command('serve')
  .description('serve until stopped; restarts itself after a failure of the disk')
  .action(async () => {
    const server = fileURLToPath(new URL('../main.js', import.meta.url))
    const log = openLog({ logLevel: 'info', logFormat: 'auto' })
    process.exitCode = await supervise({ command: [server, '--child'], clock: systemClock, log })
  })

program
  .command('migrate')
  .description('bring the Postgres schema up to date, with the server stopped')
  .action(async () => {
    process.stdout.write(await runMigrate(loadConfig()))
  })

program
  .command('reseal')
  .description('seal stored credentials with the first of the secret keys')
  .option('--new-key', 'make that key now; for keys that Spate keeps in DATA_DIR')
  .action(async ({ newKey }: { newKey?: true }) => {
    const { text, isComplete } = await runReseal(loadConfig(), { withNewKey: newKey === true })
    process.stdout.write(text)
    process.exitCode = isComplete ? 0 : 1
  })

program
  .command('doctor')
  .description('check this machine, the settings and the stores, and say what is wrong')
  .option('--json', 'print the checks as JSON')
  .action(async ({ json }: { json?: true }) => {
    const { text, isHealthy } = await runDoctor({ asJson: json === true })
    process.stdout.write(text)
    process.exitCode = isHealthy ? 0 : 1
  })

program
  .command('members')
  .description('people of an organization')
  .command('add')
  .description('make somebody a member, and an account with a key for who has none')
  .argument('<email>')
  .option('--organization <id or slug>', 'default: the only one')
  .addOption(new Option('--level <level>', 'what they may do').choices(levelNames).default('member'))
  .option('--first-name <name>', 'of a new account', '')
  .action(async (email: string, options: NewMember) => {
    process.stdout.write(await runMembersAdd(loadConfig(), systemClock, { ...options, email }))
  })

const keys = program.command('keys').description('personal API keys')

keys
  .command('list')
  .description("list somebody's keys; the keys themselves are stored nowhere")
  .argument('<email>')
  .action(async (email: string) => {
    process.stdout.write(await runKeysList(loadConfig(), email))
  })

keys
  .command('create')
  .description('make a key that may do everything its owner may, and print it this once')
  .argument('<email>')
  .option('--label <label>', 'what it is for', 'Made by spate keys')
  .action(async (email: string, { label }: { label: string }) => {
    process.stdout.write(await runKeysCreate(loadConfig(), systemClock, { email, label }))
  })

keys
  .command('revoke')
  .description('end a key at once')
  .argument('<id>', 'as listed')
  .action(async (id: string) => {
    process.stdout.write(await runKeysRevoke(loadConfig(), systemClock, id))
  })

program
  .command('explain')
  .description('tell which events and merges made a person; asks the running server')
  .argument('<distinct_id>', 'any of its ids')
  .option('--project <id or key>', 'project id or project API key; default: the only one')
  .option('--key <key>', 'personal API key; default: the one in DATA_DIR/bootstrap.json')
  .option('--url <url>', 'where the server is; default: from HOST and PORT')
  .option('--json', 'print the account as JSON')
  .action(async (distinctId: string, options: ServerAddress & { project?: string; json?: true }) => {
    const { json, ...others } = options
    const asJson = json === true
    process.stdout.write(await runExplain(loadConfig(), { distinctId, asJson, ...others }))
  })

program
  .command('query')
  .description('ask the running server about events, in SQL')
  .argument('<sql>', 'one SELECT, such as "select event, count(*) from events group by all"')
  .option('--project <id or key>', 'project id or project API key; default: the only one')
  .option('--key <key>', 'personal API key; default: the one in DATA_DIR/bootstrap.json')
  .option('--url <url>', 'where the server is; default: from HOST and PORT')
  .addOption(new Option('--format <format>', 'how to print rows').choices(queryFormats).default('table'))
  .option('--output <file>', 'where to write them; default: stdout')
  .action(async (sql: string, { output: file, ...options }: QueryFlags) => {
    const refusal = file === undefined ? refusalOf(options.format, process.stdout.isTTY) : null
    if (refusal !== null) program.error(refusal)
    const { output, remark } = await runQuery(loadConfig(), { sql, ...options })
    if (file === undefined) process.stdout.write(output)
    else writeOutput(file, output)
    process.stderr.write(remark)
  })

try {
  loadDotEnv()
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitUsage
  else if (isServiceError(error)) {
    console.error(`${error.code}: ${error.detail}`)
    process.exitCode = errorRow(error.code).exitCode ?? 1
  } else throw error
}

function writeOutput(file: string, output: string | Uint8Array): void {
  try {
    writeFileSync(file, output)
  } catch (error) {
    program.error(`--output ${file}: ${error instanceof Error ? error.message : error}`)
  }
}
