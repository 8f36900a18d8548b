// Run by private-authority.pg.test.ts in a process of its own, since Node reads NODE_EXTRA_CA_CERTS when it starts:
// delivers a staged chunk to each of the destinations that its parent names, and says what came of it.

import { readFileSync } from 'node:fs'
import type { StagedChunk } from '../../src/exports/delivery.ts'
import { DeliveryError } from '../../src/exports/delivery.ts'
import { readConfig } from '../../src/exports/destination.ts'
import { httpDestinationWith } from '../../src/exports/http-destination.ts'
import { postLimits } from '../../src/exports/http-post.ts'
import { postgresDestination } from '../../src/exports/postgres-destination.ts'
import { s3Destination } from '../../src/exports/s3-destination.ts'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { never, subject } from './staged.ts'

const destinations = {
  S3: s3Destination,
  Postgres: postgresDestination,
  HTTP: httpDestinationWith({ ...postLimits, attemptsMax: 1 }),
}

export interface Asked {
  readonly type: keyof typeof destinations
  readonly config: Readonly<Record<string, unknown>>
  readonly chunk: StagedChunk
}

// As the parent has written it.
const asked = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as readonly Asked[]
const outbound = openOutbound({ allow: '127.0.0.1', dnsServers: null })
const outcomes: string[] = []
for (const { type, config, chunk } of asked) {
  const run = { ...subject, runId: `018f3c80-0000-7000-8000-00000000000${outcomes.length % 10}` }
  try {
    const delivery = await destinations[type].open(readConfig(type, config), run, outbound, never)
    await delivery.deliver(chunk, never)
    outcomes.push('delivered')
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    outcomes.push(`${error.kind}: ${error.message}`)
  }
}
outbound.close()
process.stdout.write(JSON.stringify(outcomes))
