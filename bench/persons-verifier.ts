// The oracle's judgement of persons and groups: what Postgres says of them, against the plain model of
// test/identity, folded over the events in the order of the journal.
//
// The order is that of the events store: its rows carry their places in the journal, and verifier.ts finds whether they
// are what was sent, each once. What follows from the rows follows from the requests, then.

import { isDeepStrictEqual } from 'node:util'
import { PlainModel } from '../test/identity/plain-model.ts'
import type { Facts } from './persons-facts.ts'
import type { StoredEvent } from './stored-event.ts'

/** A row of the events store with what the persons depend on beside the event. */
export interface FoldedRow {
  readonly uuid: string
  readonly receivedAtMs: number
  readonly stored: StoredEvent
}

export interface PersonsVerdict {
  readonly personCount: number
  /** Ids that left the person they were born to. */
  readonly movedIds: number
  readonly groupCount: number
  /** From here on broken promises, in facts. The model knows it, and Postgres does not. */
  readonly missing: number
  /** Postgres says so, and the model does not. */
  readonly uninvited: number
  /** Both know it, and disagree. */
  readonly wrong: number
  /** The first few, in words. */
  readonly samples: readonly string[]
}

const samplesMax = 20
const sampleCharsMax = 600

export class PersonsVerifier {
  readonly #model: PlainModel
  readonly #read = new Map<string, string | null>()
  readonly #usage = new Map<string, { billable: number; historical: number }>()

  constructor(projectId: number) {
    this.#model = new PlainModel(projectId)
  }

  /** Takes the next row of the events store. */
  row({ uuid, receivedAtMs, stored }: FoldedRow): void {
    const { event, distinctId, timestampMs, historical, properties } = stored
    const receivedAt = new Date(receivedAtMs).toISOString()
    const timestamp = new Date(timestampMs).toISOString()
    this.#model.apply({ uuid, event, distinct_id: distinctId, timestamp, properties }, receivedAt)
    const day = receivedAt.slice(0, 10)
    const usage = this.#usage.get(day) ?? { billable: 0, historical: 0 }
    this.#usage.set(day, usage)
    usage[historical ? 'historical' : 'billable']++
  }

  /** Takes whom reads find the events born to `bornId` to belong to; null for events that they do not find. */
  read(bornId: string, personId: string | null): void {
    const name = `events of ${bornId}`
    this.#read.set(name, this.#read.has(name) ? 'several persons' : personId)
  }

  /** Judges what Postgres and reads of events say; call it after the last row. */
  verdict(found: Facts): PersonsVerdict {
    const expected = this.#facts()
    const samples: string[] = []
    const faults = { missing: 0, uninvited: 0, wrong: 0 }
    for (const [name, value] of expected) {
      if (isDeepStrictEqual(found.get(name), value)) continue
      faults[found.has(name) ? 'wrong' : 'missing']++
      samples.push(`${name} is ${printed(found.get(name))}, expected ${printed(value)}`)
    }
    for (const [name, personId] of this.#read) {
      const bornId = name.slice('events of '.length)
      const person = expected.get(`override ${bornId}`) ?? bornId
      if (personId === person) continue
      faults.wrong++
      samples.push(`${name} belong to ${personId}, expected ${person}`)
    }
    for (const [name, value] of found) {
      if (expected.has(name)) continue
      faults.uninvited++
      samples.push(`${name} is ${printed(value)}, expected none`)
    }
    return {
      personCount: this.#model.persons.size,
      movedIds: [...expected.keys()].filter((name) => name.startsWith('override ')).length,
      groupCount: Object.keys(this.#model.groups).length,
      ...faults,
      samples: samples.slice(0, samplesMax),
    }
  }

  #facts(): Facts {
    const { persons, groupTypes, groups, warnings } = this.#model
    const facts = new Map<string, unknown>()
    for (const { uuid, ids, createdAt, isIdentified, version, properties } of persons) {
      const created_at_ms = Date.parse(createdAt)
      facts.set(`person ${uuid}`, { created_at_ms, is_identified: isIdentified, version, properties })
      for (const id of ids) {
        facts.set(`distinct_id ${id}`, uuid)
        const bornId = this.#model.bornId(id)
        if (bornId !== uuid) facts.set(`override ${bornId}`, uuid)
      }
    }
    for (const [name, index] of Object.entries(groupTypes)) facts.set(`group type ${name}`, index)
    for (const [name, { createdAt, version, properties }] of Object.entries(groups))
      facts.set(`group ${name}`, { created_at_ms: Date.parse(createdAt), version, properties })
    for (const [reason, count] of Object.entries(warnings)) facts.set(`warning ${reason}`, count)
    for (const [day, usage] of this.#usage) facts.set(`usage ${day}`, usage)
    const has_group_types = Object.keys(groupTypes).length > 0
    facts.set('project', { ingested_event: this.#usage.size > 0, has_group_types })
    return facts
  }
}

function printed(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > sampleCharsMax ? `${text.slice(0, sampleCharsMax)}…` : text
}
