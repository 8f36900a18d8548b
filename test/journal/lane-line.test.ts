import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import type { Position } from '../../src/journal/journal.ts'
import { createLaneMemory, LaneReceiver, LaneSender } from '../../src/journal/lane-line.ts'
import { part } from './lane-world.ts'

function line(): { sender: LaneSender; receiver: LaneReceiver } {
  const memory = createLaneMemory()
  return { sender: new LaneSender(memory), receiver: new LaneReceiver(memory) }
}

/** What comes next: the text of a chain, `message`, or null. */
function nextOf(receiver: LaneReceiver): string | null {
  const next = receiver.next()
  return next === null || next === 'message' ? next : Buffer.from(next[0]!.payload).toString()
}

t.test('chains and messages come in the order in which they were sent', async (t) => {
  const { sender, receiver } = line()
  const put = (text: string): boolean => sender.put([part(text)])
  put('one')
  sender.posted()
  sender.posted()
  put('two')
  put('three')
  sender.posted()
  const got = Array.from({ length: 6 }, () => nextOf(receiver))
  t.same(got, ['one', 'message', 'message', 'two', 'three', 'message'])
  t.equal(nextOf(receiver), null)
  put('four')
  t.equal(nextOf(receiver), 'four')
  t.equal(nextOf(receiver), null)
})

t.test(
  'a bell that has rung since lets nobody sleep, one that has not does for the time that is said',
  async (t) => {
    const { sender, receiver } = line()
    const rings = receiver.rings()
    sender.ringBell()
    receiver.sleep(rings, Number.POSITIVE_INFINITY)
    t.not(receiver.rings(), rings)
    receiver.sleep(receiver.rings(), 1)
  },
)

/** Says that it is about to sleep, and that it was woken. */
const sleeperCode = `
const { parentPort, workerData } = require('node:worker_threads')
import(workerData.url).then(({ LaneReceiver }) => {
  const receiver = new LaneReceiver(workerData.memory)
  const rings = receiver.rings()
  parentPort.postMessage('tired')
  receiver.sleep(rings, Number.POSITIVE_INFINITY)
  parentPort.postMessage('awake')
})`

t.test('the bell wakes who sleeps in another thread', async (t) => {
  const memory = createLaneMemory()
  const url = new URL('../../src/journal/lane-line.js', import.meta.url).href
  const sleeper = new Worker(sleeperCode, { eval: true, workerData: { url, memory } })
  t.same(await once(sleeper, 'message'), ['tired'])
  const woken = once(sleeper, 'message')
  new LaneSender(memory).ringBell()
  t.same(await woken, ['awake'])
  await once(sleeper, 'exit')
})

t.test('the status is read as it was told', async (t) => {
  const { sender, receiver } = line()
  const status = {
    oldest: (2 ** 40) as Position,
    committed: (2 ** 53 - 8) as Position,
    storedBytes: 3,
    damagedBytes: 4,
    isFull: true,
    commitCount: 5,
    commitMsTotal: 0.5,
  }
  receiver.tell(status)
  t.same(sender.status(), status)
  receiver.tell({ ...status, isFull: false })
  t.same(sender.status(), { ...status, isFull: false })
})
