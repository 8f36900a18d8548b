// The stages of ingestion, each measured alone. lz-string, which old SDKs pack lz64 with, stands beside our decoder.

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import lzString from 'lz-string'
import { scanMoreElements } from '../src/capture/elements-scan.ts'
import { scanEnvelope } from '../src/capture/envelope.ts'
import { gunzip } from '../src/capture/gunzip.ts'
import { decodeLz64 } from '../src/capture/lz64.ts'
import { openScan } from '../src/capture/scan.ts'
import { clearTape, createTape } from '../src/capture/span-tape.ts'
import { Loader } from '../src/events/load.ts'
import { openStore } from '../src/events/store.ts'
import { bucketOf, flagPrefix, noSalt } from '../src/flags/bucket.ts'
import type { Person } from '../src/identity/known.ts'
import { openJournal } from '../src/journal/client.ts'
import type { Journal } from '../src/journal/journal.ts'
import { systemClock } from '../src/lib/clock.ts'
import { foldBatch, knownPersons } from './identity.ts'
import { type Spread, spreadOf } from './ingest-figures.ts'
import { captured, inflatedBytesMax, type StageInput } from './stage-input.ts'

export interface StageFigure {
  readonly name: string
  /** µs of processor time. */
  readonly micros: Spread
  readonly unit: 'event' | 'hash'
}

/** The stages that an event of a gzip batch goes through: their sum is the engine's share of its cost. */
export const eventStages = ['inflate', 'scan', 'normalise', 'journal', 'load', 'fold'] as const

interface Stage {
  readonly unit: StageFigure['unit']
  /** Makes ready for one sample, and returns its work, which says how many events or hashes it did. */
  prepare(): Promise<() => number | Promise<number>>
}

/**
 * Measures every stage `samples` times, in turn, after a round to warm up. `normalise` is what decoding takes beyond
 * inflating and scanning.
 */
export async function measureStages(
  input: StageInput,
  samples: number,
  folder: string,
): Promise<StageFigure[]> {
  const journal = await openJournal({
    dir: join(folder, 'journal'),
    quarantineDir: join(folder, 'quarantine'),
  })
  try {
    const all = createStages(input, folder, journal)
    const micros = Object.fromEntries(Object.keys(all).map((name) => [name, [] as number[]]))
    for (let round = -1; round < samples; round++) {
      for (const [name, stage] of Object.entries(all)) {
        const sample = await sampleMicros(stage)
        if (round >= 0) micros[name]!.push(sample)
      }
    }
    const normalise = micros.decode!.map((all, index) => all - micros.inflate![index]! - micros.scan![index]!)
    const named: Record<string, readonly number[]> = { ...micros, normalise }
    const names = [
      ...eventStages,
      ...Object.keys(all).filter((name) => !eventStages.some((one) => one === name)),
    ]
    return names.map((name) => ({ name, unit: all[name]?.unit ?? 'event', micros: spreadOf(named[name]!) }))
  } finally {
    await journal.close()
  }
}

async function sampleMicros(stage: Stage): Promise<number> {
  const work = await stage.prepare()
  const before = process.cpuUsage()
  const count = await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

function createStages(input: StageInput, folder: string, journal: Journal): Record<string, Stage> {
  const { eventCount } = input
  const perEvent = (work: () => void): Stage => ({
    unit: 'event',
    prepare: async () => () => {
      work()
      return eventCount
    },
  })
  const ofLz64 = (work: () => void): Stage => ({
    unit: 'event',
    prepare: async () => () => {
      work()
      return input.lz64Events
    },
  })
  const persons = new Map<string, Person>()
  const known = knownPersons(persons)
  const [prefix, id] = [flagPrefix('new-onboarding'), Buffer.from('018f3c2a-77aa-7c11-9d2e-018f3c2a77aa')]
  const hashes = 100_000
  return {
    inflate: perEvent(() => {
      for (const body of input.packed) gunzip(body, inflatedBytesMax)
    }),
    scan: perEvent(() => {
      for (const text of input.texts) scanAll(text)
    }),
    decode: perEvent(() => {
      for (const body of input.packed) captured(body)
    }),
    journal: { unit: 'event', prepare: async () => appendAll(input, journal) },
    load: { unit: 'event', prepare: async () => await loadAll(input, join(folder, 'load')) },
    // The round that warms up makes the persons known.
    fold: perEvent(() => {
      for (const batch of input.batches) foldBatch(known, batch, persons)
    }),
    'lz64, batches of 20': ofLz64(() => {
      for (const body of input.lz64) decodeLz64(body, inflatedBytesMax)
    }),
    'the same by lz-string': ofLz64(() => {
      for (const body of input.lz64) lzString.decompressFromBase64(Buffer.from(body).toString('latin1'))
    }),
    hash: {
      unit: 'hash',
      prepare: async () => () => {
        for (let index = 0; index < hashes; index++) bucketOf(prefix, id, noSalt)
        return hashes
      },
    },
  }
}

const tape = createTape()

function scanAll(text: StageInput['texts'][number]): void {
  const { cursor } = scanEnvelope(openScan(text, true), tape)
  if (cursor.resumeAt < 0) return
  const scan = openScan(text, true)
  while (cursor.resumeAt >= 0) {
    clearTape(tape)
    scanMoreElements(scan, tape, cursor)
  }
}

/** Appends all parts, one request behind the other as fast as the lane takes them, until all are on disk. */
function appendAll({ packed, eventCount }: StageInput, journal: Journal): () => Promise<number> {
  // Parts are given away by an append, so each sample has its own.
  const requests = packed.map((body) =>
    captured(body).map(({ payload, eventCount, dedupKeys }) => {
      return { kind: 'events' as const, payload, eventCount, dedupKeys }
    }),
  )
  return async () => {
    await Promise.all(requests.map((parts) => journal.append('realtime', parts)))
    return eventCount
  }
}

/** Loads all records into a new store in one transaction, commit and checkpoint included. */
async function loadAll(
  { records, batches, eventCount }: StageInput,
  dataDir: string,
): Promise<() => Promise<number>> {
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir)
  const memoryLimitBytes = 1024 * 1024 * 1024
  const options = { dataDir, memoryLimitBytes, threads: 1, isJournalComplete: true, clock: systemClock }
  const store = await openStore(options)
  const connection = store.writer
  const loader = await Loader.open(connection)
  return async () => {
    await connection.run('begin')
    for (const [index, record] of records.entries())
      await loader.load('realtime', record, batches[index]!, 0, eventCount)
    await loader.flush()
    await connection.run('commit')
    await connection.run('checkpoint')
    loader.close()
    store.close()
    return eventCount
  }
}
