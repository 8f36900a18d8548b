import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { threadFlags } from '../../src/lib/thread-flags.ts'

t.test('a thread imports ES modules and cannot require them', async (t) => {
  const file = new URL('../../src/lib/thread-flags.js', import.meta.url)
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    let refusal = null
    try { require(workerData.path) } catch (error) { refusal = error.code }
    import(workerData.href).then(({ threadFlags }) => parentPort.postMessage({ refusal, threadFlags }))`
  const workerData = { path: fileURLToPath(file), href: file.href }
  const worker = new Worker(code, { eval: true, workerData, execArgv: threadFlags })
  const [told] = await once(worker, 'message')
  t.same(told, { refusal: 'ERR_REQUIRE_ESM', threadFlags })
})
