import { readlink } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { consumerNiceness, poolStandsBack } from '../src/priority.ts'

const skip = process.platform === 'linux' ? false : 'a niceness is of a whole process here'

/** Niceness of a thread by its name in /proc, `<pid>/task/<tid>`. */
const nicenessOf = (thread: string): number => getPriority(Number(thread.split('/').at(-1)))

/** A thread that stands back and tells who it is, and who a thread of its own is. */
const standsBack = `
  const { readlinkSync } = require('node:fs')
  const { parentPort, Worker, workerData } = require('node:worker_threads')
  import(workerData).then(({ standBack }) => {
    standBack()
    const started = "const { parentPort } = require('node:worker_threads');" +
      "parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'));" +
      "parentPort.on('message', () => {})"
    new Worker(started, { eval: true }).on('message', (started) =>
      parentPort.postMessage([readlinkSync('/proc/thread-self'), started]))
  })
  parentPort.on('message', () => {})`

t.test('a thread that stands back takes along those it starts, and no other', { skip }, async (t) => {
  const workerData = new URL('../src/priority.js', import.meta.url).href
  const worker = new Worker(standsBack, { eval: true, workerData })
  t.teardown(() => worker.terminate())
  const threads = await new Promise<string[]>((resolve) => worker.once('message', resolve))
  t.same(threads.map(nicenessOf), [consumerNiceness, consumerNiceness])
  t.equal(getPriority(process.pid), 0)
})

t.test("all threads of libuv's pool stand back", { skip }, async (t) => {
  // Its size when nobody says another.
  t.equal(await poolStandsBack(), Number(process.env.UV_THREADPOOL_SIZE ?? 4))
  t.equal(nicenessOf(await readlink('/proc/thread-self')), consumerNiceness)
  t.equal(getPriority(process.pid), 0)
})
