// Random histories through HTTP, both stores and the mirror: every event is listed under the person that the fold in
// memory says it belongs to, and hidden events are not listed.

import fc from 'fast-check'
import t from 'tap'
import { textValue } from '../../src/capture/text-column.ts'
import { bornIdOf } from '../../src/identity/born-id.ts'
import { formatUuid } from '../../src/lib/uuid.ts'
import { uuidOf } from '../identity/captured.ts'
import { inputsOf } from '../identity/check-history.ts'
import { type Happening, history, ids } from '../identity/histories.ts'
import { MemoryStore } from '../identity/memory-store.ts'
import { startServer } from '../support/server.ts'
import { batch } from './requests.ts'

const seed = 20_240_501
/** Happenings after which the lists are compared. */
const roundLength = 80
/** From this round on deleted persons take their events along: also those to come, since the clock stands still. */
const firstHidingRound = 3

/** Rounds of one long history, in which every event has a uuid of its own. */
function rounds(count: number): Happening[][] {
  const parts = fc.sample(history(roundLength), { seed, numRuns: count * 40 })
  const long = parts.flatMap(({ happenings }) => happenings).slice(0, count * roundLength)
  const named = long.map((one, index): Happening => {
    if (one.kind === 'event') return { ...one, event: { ...one.event, uuid: uuidOf(index + 1) } }
    return { ...one, hidesEvents: one.hidesEvents && index >= firstHidingRound * roundLength }
  })
  return Array.from({ length: count }, (_, n) => named.slice(n * roundLength, (n + 1) * roundLength))
}

t.test('every event of a random history belongs to whom the fold says', async (t) => {
  const server = await startServer(t)
  const fold = new MemoryStore(1)
  const captured = new Map<string, string>()

  async function play(happenings: readonly Happening[]): Promise<void> {
    let events: object[] = []
    const flush = async () => {
      if (events.length > 0) t.equal((await server.post('/batch/', batch(...events))).status, 200)
      events = []
    }
    for (const one of happenings) {
      if (one.kind === 'event') {
        events.push(one.event)
        if (events.length === 7) await flush()
        continue
      }
      await flush()
      await server.settled()
      const path = `/api/projects/1/persons/${bornIdOf(1, one.distinctId)}/?delete_events=${one.hidesEvents}`
      const headers = { authorization: `Bearer ${server.personalApiKey}` }
      const { status } = await fetch(server.url + path, { method: 'DELETE', headers })
      t.ok(status === 204 || status === 404, `answered ${status}`)
    }
    await flush()
  }

  async function listed(query: Record<string, string>): Promise<string[]> {
    const { text } = await server.get(`/api/projects/1/events/?limit=1000&${new URLSearchParams(query)}`)
    // The list's shape.
    return (JSON.parse(text) as { results: { id: string }[] }).results.map(({ id }) => id).sort()
  }

  for (const happenings of rounds(5)) {
    await play(happenings)
    for (const input of inputsOf(happenings)) {
      fold.step([input])
      if (input.kind !== 'events') continue
      const { batch } = input
      for (let i = 0; i < batch.header.count; i++)
        captured.set(formatUuid(batch.uuids, i * 16), textValue(batch.text.distinctId, i))
    }
    await server.settled()
    const visible = [...captured].filter(([, id]) => !fold.tombstones.has(bornIdOf(1, id)))
    t.same(await listed({}), visible.map(([uuid]) => uuid).sort())
    for (const owner of new Set(ids.flatMap((id) => [fold.readerOf(id), bornIdOf(1, id)]))) {
      const expected = visible.filter(([, id]) => fold.readerOf(id) === owner).map(([uuid]) => uuid)
      t.same(await listed({ person_id: owner }), expected.sort(), `events of ${owner}`)
    }
  }
  t.ok(captured.size > 250, `${captured.size} events`)
})
