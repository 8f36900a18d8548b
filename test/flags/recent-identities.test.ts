import t from 'tap'
import { type Applying, RecentIdentities } from '../../src/flags/recent-identities.ts'
import type { Position } from '../../src/journal/journal.ts'
import { writeBornId } from '../../src/lib/uuid.ts'

const at = (position: number): Position => position as Position // positions of a journal that is not there

function bornId(projectId: number, distinctId: string): Uint8Array {
  const bytes = Buffer.from(distinctId)
  const id = new Uint8Array(16)
  writeBornId(projectId, bytes, 0, bytes.length, id, 0)
  return id
}

/** Waits end by what happens, not by their time: a busy machine may take longer than that for a step of a test. */
function opened(waitMs = 60_000) {
  const listeners: (() => void)[] = []
  const state: { reason: string | null; applied: { realtime: Position } } = {
    reason: null,
    applied: { realtime: at(0) },
  }
  const persons: Applying = { state: () => state, onApplied: (listener) => listeners.push(listener) }
  const clock = { ms: 0 }
  const recent = new RecentIdentities(persons, { nowMs: () => clock.ms, monotonicMs: () => clock.ms }, waitMs)
  const apply = (position: number): void => {
    state.applied.realtime = at(position)
    for (const listener of listeners) listener()
  }
  return { recent, state, clock, apply }
}

/** Whether the wait is still going on once everything that is due has run. */
async function isWaiting(wait: Promise<void>): Promise<boolean> {
  const later = new Promise<'later'>((resolve) => setImmediate(() => resolve('later')))
  return (await Promise.race([wait, later])) === 'later'
}

t.test('whoever sent an identity event waits until it is applied', async (t) => {
  const { recent, apply } = opened()
  recent.note(bornId(1, 'ada'), at(100))
  const wait = recent.wait(1, 'ada')
  t.equal(await isWaiting(wait), true)
  apply(99)
  t.equal(await isWaiting(wait), true)
  apply(100)
  t.equal(await isWaiting(wait), false)
  t.equal(await isWaiting(recent.wait(1, 'ada')), false, 'and not again')
})

t.test('says whether there is anything to wait for', async (t) => {
  const { recent, clock, apply } = opened()
  t.equal(recent.isApplied(1, 'ada'), true, 'nothing was sent')
  recent.note(bornId(1, 'ada'), at(100))
  t.equal(recent.isApplied(1, 'ada'), false)
  t.equal(recent.isApplied(1, 'bob'), true)
  apply(99)
  t.equal(recent.isApplied(1, 'ada'), false)
  apply(100)
  t.equal(recent.isApplied(1, 'ada'), true)
  recent.note(bornId(1, 'ada'), at(200))
  clock.ms += 5_001
  t.equal(recent.isApplied(1, 'ada'), true, 'long ago')
})

t.test('several events of one request are all known', async (t) => {
  const { recent } = opened()
  recent.note(Buffer.concat([bornId(1, 'ada'), bornId(1, 'bob')]), at(100))
  t.equal(await isWaiting(recent.wait(1, 'ada')), true)
  t.equal(await isWaiting(recent.wait(1, 'bob')), true)
  recent.close()
})

t.test('nobody else waits, nor does the same id of another project', async (t) => {
  const { recent } = opened()
  recent.note(bornId(1, 'ada'), at(100))
  t.equal(await isWaiting(recent.wait(1, 'bob')), false)
  t.equal(await isWaiting(recent.wait(2, 'ada')), false)
  t.equal(await isWaiting(recent.wait(1, '')), false)
})

t.test('a wait ends by itself', async (t) => {
  const { recent } = opened(100)
  recent.note(bornId(1, 'ada'), at(100))
  await recent.wait(1, 'ada')
  t.pass('after a tenth of a second')
})

t.test('what is long ago, or cannot be applied now, is not waited for', async (t) => {
  const { recent, clock, state } = opened()
  recent.note(bornId(1, 'ada'), at(100))
  clock.ms = 5_000
  t.equal(await isWaiting(recent.wait(1, 'ada')), true)
  clock.ms = 5_001
  t.equal(await isWaiting(recent.wait(1, 'ada')), false)
  recent.note(bornId(1, 'ada'), at(200))
  state.reason = 'Postgres is away'
  t.equal(await isWaiting(recent.wait(1, 'ada')), false)
  recent.close()
})

t.test('no more than so many wait at once', async (t) => {
  const { recent } = opened()
  recent.note(bornId(1, 'ada'), at(100))
  const waits = Array.from({ length: 256 }, () => recent.wait(1, 'ada'))
  t.equal(await isWaiting(Promise.race(waits)), true)
  t.equal(await isWaiting(recent.wait(1, 'ada')), false)
  recent.close()
  await Promise.all(waits)
})
