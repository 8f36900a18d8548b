import t, { type Test } from 'tap'
import { type ForeignAddress, openForeign } from '../../src/postgres/foreign.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'

const never = new AbortController().signal

async function world(t: Test, speaksTls = false) {
  const { connectionString } = await freshDatabase(t, true)
  const front = await startPostgresFront(t, connectionString, speaksTls)
  const to: ForeignAddress = {
    host: 'db.example',
    address: '127.0.0.1',
    port: front.port,
    user: 'spate',
    password: 'open sesame',
    database: /@\/(\w+)\?/.exec(connectionString)![1]!,
    checksCertificate: false,
    allowsClear: false,
  }
  return { front, to }
}

t.test('in clear only where that is allowed', async (t) => {
  const { front, to } = await world(t)
  await t.rejects(openForeign(to, never), { code: 'ERR_SSL_NOT_OFFERED' })
  t.equal(front.connections(), 1)
  const foreign = await openForeign({ ...to, allowsClear: true }, never)
  t.same((await foreign.query('select 1 + $1::integer as n', [1])).rows, [{ n: '2' }])
  await foreign.close()
})

t.test('TLS where the server has it', async (t) => {
  const { front, to } = await world(t, true)
  const foreign = await openForeign(to, never)
  t.same((await foreign.query('select 1 as n')).rows, [{ n: '1' }])
  await foreign.close()
  await t.rejects(openForeign({ ...to, checksCertificate: true, allowsClear: true }, never), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  })
  t.equal(front.connections(), 2, 'what is wrong with TLS is no reason to speak in clear')
})

t.test('a server that has gone silent is given up', async (t) => {
  const { front, to } = await world(t)
  const foreign = await openForeign({ ...to, allowsClear: true }, never, {
    connectMsMax: 5_000,
    silentMsMax: 200,
  })
  front.silentAfter = 0
  await t.rejects(foreign.query('select 1'))
  await foreign.close()
})

t.test('a signal ends what is going on', async (t) => {
  const { to } = await world(t)
  const stopping = new AbortController()
  const foreign = await openForeign({ ...to, allowsClear: true }, stopping.signal)
  const waiting = foreign.query('select pg_sleep(60)')
  stopping.abort()
  await t.rejects(waiting)
  await foreign.close()
  await t.rejects(openForeign({ ...to, allowsClear: true }, AbortSignal.abort(new Error('late'))), {
    message: 'late',
  })
})
