// Builds event batches from plain rows, for tests.

import {
  EventFlag,
  eventBatchVersion,
  type TextColumnName,
  textColumnNames,
} from '../../src/capture/event-batch.ts'
import {
  type EventColumns,
  encodeEventBatch,
  type WrittenColumn,
} from '../../src/capture/event-batch-writer.ts'
import type { Bytes } from '../../src/lib/bytes.ts'

export interface RowInput {
  readonly uuid?: string
  readonly bornId?: string
  readonly event?: string
  readonly distinctId?: string
  readonly properties?: string
  readonly elementsChain?: string
  readonly timestampMicros?: number
  readonly anonymous?: boolean
  /** Puts these bytes where the properties go, whatever they are. */
  readonly rawProperties?: Uint8Array
}

/** A piece that is a text of 37 bytes. */
const neverStored = Buffer.from('\x4b"$set":{"never":"stored with events"}\x1e')

export interface BatchInput {
  readonly projectId?: number
  readonly receivedAtMs?: number
  readonly historical?: boolean
  readonly rows: readonly RowInput[]
}

/** The uuid that ends in `n`. */
export function uuidOf(n: number): string {
  return `00000000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}

/** `count` plain rows whose uuids end in `first`, `first` + 1, …, as does the property `n`. */
export function plainRows(first: number, count: number): RowInput[] {
  return Array.from({ length: count }, (_, i) => ({
    uuid: uuidOf(first + i),
    properties: `{"n":${first + i}}`,
  }))
}

export function makeBatch(input: BatchInput): Bytes {
  const { rows } = input
  const text: Partial<Record<TextColumnName, WrittenColumn>> = {}
  for (const name of textColumnNames) text[name] = textColumn(rows.map((row) => textOf(row, name)))
  const columns: EventColumns = {
    uuids: Buffer.concat(rows.map((row, i) => idBytes(row.uuid ?? uuidOf(i)))),
    bornIds: Buffer.concat(rows.map((row) => idBytes(row.bornId ?? uuidOf(0xb0)))),
    timestamps: Float64Array.from(rows, (row) => row.timestampMicros ?? 1_700_000_000_000_000),
    digests: new Float64Array(rows.length),
    flags: Uint8Array.from(rows, (row) => (row.anonymous ? EventFlag.anonymous : 0)),
    idDistances: new Uint32Array(rows.length),
    text: text as EventColumns['text'], // the loop above filled every column
  }
  return encodeEventBatch(
    {
      version: eventBatchVersion,
      projectId: input.projectId ?? 1,
      receivedAtMs: input.receivedAtMs ?? 1_700_000_000_500,
      historical: input.historical ?? false,
      count: rows.length,
    },
    columns,
  )
}

function textOf(row: RowInput, name: TextColumnName): Uint8Array {
  switch (name) {
    case 'event':
      return Buffer.from(row.event ?? 'viewed')
    case 'distinctId':
      return Buffer.from(row.distinctId ?? 'anna')
    case 'properties':
      return row.rawProperties ?? Buffer.from(row.properties ?? '{}')
    case 'person':
      return neverStored
    case 'elementsChain':
      return Buffer.from(row.elementsChain ?? '')
  }
}

function textColumn(values: readonly Uint8Array[]): WrittenColumn {
  const separator = Buffer.from([0x1e])
  const bytes = Buffer.concat(values.flatMap((value) => [value, separator]))
  const ends = new Uint32Array(values.length)
  let at = 0
  for (const [i, value] of values.entries()) {
    ends[i] = at + value.length
    at += value.length + 1
  }
  return { bytes, ends }
}

function idBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}
