import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { ClosedPacing, OpenPacing, type Pacing } from '../../bench/pacing.ts'
import { type LoopReport, runLoop } from '../../bench/request-loop.ts'

const request = Buffer.from('POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n')
const answer = (status: number, body: string): string =>
  `HTTP/1.1 ${status} X\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** A server that does `act` with the n-th request it gets, from 1. */
async function serve(t: Test, act: (socket: Socket, count: number) => void): Promise<number> {
  let count = 0
  const server = createServer((socket) => {
    socket.on('data', () => act(socket, ++count))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port // a TCP server has an address with a port
}

async function loop(
  port: number,
  pacing: Pacing,
  count: number,
  connections: number,
): Promise<LoopReport & { answers: string[] }> {
  const answers: string[] = []
  const report = await runLoop(pacing, {
    port,
    connections,
    count,
    bytesOf: () => request,
    answered: (number, status, body) => answers.push(`${number} ${status} ${body}`),
  })
  return { ...report, answers: answers.sort() }
}

t.test('each request is answered once, with the body, also in pieces', async (t) => {
  const port = await serve(t, (socket, count) => {
    const text = answer(200, `answer ${count}`)
    socket.write(text.slice(0, count * 7))
    setImmediate(() => socket.write(text.slice(count * 7)))
  })
  const { answers, latency } = await loop(port, new ClosedPacing(10, 3), 3, 1)
  t.same(answers, ['10 200 answer 1', '11 200 answer 2', '12 200 answer 3'])
  t.equal(latency.totalCount, 3)
})

t.test('an answer in chunks is whole before the next request is sent', async (t) => {
  const port = await serve(t, (socket, count) => {
    socket.write('HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n')
    const pieces =
      count === 2 ? ['0\r\n', '\r\n'] : ['7\r\nanswer ', '\r\n1\r\n', `${count}\r\n`, '0\r\n\r\n']
    const writeNext = (): void => {
      const piece = pieces.shift()
      if (piece === undefined) return
      socket.write(piece, () => setImmediate(writeNext))
    }
    writeNext()
  })
  const { answers } = await loop(port, new ClosedPacing(1, 3), 3, 1)
  t.same(answers, ['1 200 answer 1', '2 200 ', '3 200 answer 3'])
})

t.test('a closed loop sends again what was answered 503, an open one does not', async (t) => {
  const act = (socket: Socket, count: number): void => void socket.write(answer(count === 2 ? 503 : 200, ''))
  const closed = await loop(await serve(t, act), new ClosedPacing(0, 3), 3, 1)
  t.same(closed.answers, ['0 200 ', '1 200 ', '2 200 '])
  t.equal(closed.overloaded, 1)
  const open = await loop(await serve(t, act), new OpenPacing(0, 3, 1000), 3, 1)
  t.same(open.answers, ['0 200 ', '1 503 ', '2 200 '])
})

t.test('a connection that ends without an answer is told and replaced', async (t) => {
  const port = await serve(t, (socket, count) => {
    if (count === 2) socket.destroy()
    else socket.write(answer(200, ''))
  })
  const { answers } = await loop(port, new ClosedPacing(0, 4), 4, 1)
  t.same(answers, ['0 200 ', '1 null ', '2 200 ', '3 200 '])
})

t.test('a connection that ends while it is idle is replaced before anything is sent on it', async (t) => {
  const sockets: Socket[] = []
  const port = await serve(t, (socket, count) => {
    sockets.push(socket)
    if (count !== 3) socket.write(answer(200, ''))
    else {
      // The other two have their answers, and are idle.
      const [first, second] = sockets
      for (const idle of [first!, second!]) idle.end()
      void Promise.all([once(first!, 'close'), once(second!, 'close')]).then(() =>
        socket.write(answer(200, '')),
      )
    }
  })
  let sent = 0
  let answered = 0
  const report = await runLoop(
    {
      next: () => (sent < 3 || (sent < 6 && answered >= 3) ? { number: sent++, dueMs: 0 } : null),
      overloaded: () => false,
    },
    { port, connections: 3, count: 6, bytesOf: () => request, answered: () => void answered++ },
  )
  t.equal(report.latency.totalCount, 6)
  t.equal(answered, 6)
})

t.test('an open loop counts the time that a request waited for the one before', async (t) => {
  const answerMs = 20
  const port = await serve(t, (socket) => void setTimeout(() => socket.write(answer(200, '')), answerMs))
  const { latency } = await loop(port, new OpenPacing(0, 10, 1000), 10, 1)
  // The last was due after 9 ms and answered after ten times 20 ms; timers may be a millisecond early.
  t.ok(latency.getValueAtPercentile(100) >= 10 * (answerMs - 1) * 1000 - 9000)
})
