// Plays a history through the fold and through the plain model and compares what is left.

import { strict as assert } from 'node:assert'
import { openEventBatch } from '../../src/capture/event-batch.ts'
import type { UnreadInput } from '../../src/identity/operations.ts'
import { asVersion2 } from '../capture/recorded-batch.ts'
import { capturedBatch, nowMs, rangeOf } from './captured.ts'
import { type Happening, type History, ids } from './histories.ts'
import { MemoryStore } from './memory-store.ts'
import { bornId, PlainModel } from './plain-model.ts'

/**
 * Throws when fold and model disagree, or when another cut into steps, with crashes between and every other step's
 * events as the version before wrote them, ends elsewhere.
 */
export function checkHistory({ happenings, cuts, crashes }: History): void {
  const model = playModel(happenings)
  const whole = new MemoryStore()
  whole.step(inputsOf(happenings))
  compare(whole, model)

  const cut = new MemoryStore()
  const ends = [...new Set(cuts)].filter((end) => end < happenings.length).sort((a, b) => a - b)
  let start = 0
  for (const [step, end] of [...ends, happenings.length].entries()) {
    const written = inputsOf(happenings.slice(start, end))
    const inputs = step % 2 === 0 ? written : written.map(asWrittenBefore)
    if (crashes.includes(step)) cut.fold(inputs)
    cut.step(inputs)
    start = end
  }
  assert.deepEqual(cut.dump(), whole.dump())
}

function playModel(happenings: readonly Happening[]): PlainModel {
  const model = new PlainModel()
  const now = new Date(nowMs).toISOString()
  for (const one of happenings) {
    if (one.kind === 'event') model.apply(one.event, now)
    else model.deletePerson(bornId(one.distinctId), one.hidesEvents)
  }
  return model
}

/** One batch for every run of events. */
export function inputsOf(happenings: readonly Happening[]): UnreadInput[] {
  const inputs: UnreadInput[] = []
  for (let at = 0; at < happenings.length; ) {
    const one = happenings[at]
    if (one?.kind === 'delete_person') {
      const personUuid = bornId(one.distinctId)
      const deletesEvents = one.hidesEvents
      inputs.push({ kind: 'delete_person', projectId: 1, personUuid, deletesEvents, deletedAtMs: nowMs })
      at++
      continue
    }
    const events = []
    for (let next = happenings[at]; next?.kind === 'event'; next = happenings[++at]) events.push(next.event)
    const batch = capturedBatch(events)
    if (batch !== null) inputs.push(rangeOf(batch))
  }
  return inputs
}

/** The same input, its batch without digests. */
export function asWrittenBefore(input: UnreadInput): UnreadInput {
  return input.kind === 'events' ? { ...input, batch: openEventBatch(asVersion2(input.batch)) } : input
}

function compare(store: MemoryStore, model: PlainModel): void {
  for (const id of ids) {
    const person = model.personOf(id)
    const expected = person && {
      uuid: person.uuid,
      distinctIds: [...person.ids].sort(),
      properties: person.properties,
      isIdentified: person.isIdentified,
      version: person.version,
      createdAt: person.createdAt,
    }
    assert.deepEqual(store.person(id), expected ?? null)
    assert.equal(store.readerOf(id), person?.uuid ?? bornId(id))
    assert.equal(store.tombstones.has(bornId(id)), model.hiddenIds.has(id))
  }
  assert.equal(store.personCount(), model.persons.size)
  assert.deepEqual(store.groupTypes(), model.groupTypes)
  assert.equal(store.groupCount(), Object.keys(model.groups).length)
  for (const [name, group] of Object.entries(model.groups)) {
    const [type = '', key = ''] = name.split(' ')
    assert.deepEqual(store.group(type, key), group)
  }
  const counts = store.warnings.map(({ reason, count }) => [reason, count])
  assert.deepEqual(Object.fromEntries(counts), model.warnings)
}
