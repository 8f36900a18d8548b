// A process that opens the embedded server in the folder it is given, says where, and waits to be killed:
// `node embedded-child.js <folder>`.

import { openEmbeddedPostgres } from '../../src/postgres/embedded.ts'
import { silentLog } from './postgres.ts'

const { connectionString } = await openEmbeddedPostgres({ dir: process.argv[2] ?? '', log: silentLog })
process.stdout.write(`${connectionString}\n`)
setInterval(() => {}, 60_000)
