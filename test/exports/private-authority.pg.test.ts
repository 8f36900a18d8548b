// Destinations behind certificates of an authority that only their operator knows.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { openAuthority } from '../support/certificates.ts'
import { rowsOf } from '../support/cluster.ts'
import { freshDatabase } from '../support/postgres.ts'
import { startPostgresFront } from '../support/postgres-front.ts'
import { s3Bucket, s3Keys, startS3 } from '../support/s3.ts'
import { stage } from './staged.ts'
import type { Asked } from './tls-child.ts'

const run = promisify(execFile)
const child = fileURLToPath(new URL('tls-child.js', import.meta.url))
const csv = { kind: 'csv', compression: null } as const

const ours = openAuthority('An authority of ours')
const hourMs = 3_600_000
const certificates = {
  right: ours.issue('localhost'),
  wrongName: ours.issue('warehouse.example'),
  unknown: openAuthority('Somebody else').issue('localhost'),
  expired: ours.issue('localhost', -2 * hourMs, -hourMs),
  future: ours.issue('localhost', hourMs, 2 * hourMs),
}
type Case = keyof typeof certificates
const cases = Object.keys(certificates) as Case[]

/** Speaks TLS in front of a server on this machine. */
async function startTls(t: Test, one: Case, port: number): Promise<number> {
  const server = createServer(certificates[one], (client) => {
    const onward = connect(port, '127.0.0.1')
    client.pipe(onward).pipe(client)
    for (const socket of [client, onward]) socket.on('error', () => {}) // certificates are refused that way
    client.on('close', () => onward.destroy())
    t.teardown(() => client.destroy())
  })
  server.on('tlsClientError', () => {}) // the same
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port // it listens on TCP
}

/** What comes of a delivery to each destination with each certificate. */
async function world(t: Test) {
  const { connectionString } = await freshDatabase(t, true)
  const database = /@\/(\w+)\?/.exec(connectionString)![1]
  const s3 = await startS3(t)
  const received: number[] = []
  const receiver = createHttpServer(async (request, response) => {
    for await (const piece of request) received.push((piece as Buffer).length) // of a request without encoding
    response.end('{"status":"Ok"}')
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const { port: receiverPort } = receiver.address() as AddressInfo // it listens on TCP
  const chunk = await stage(t, csv)
  const asked: Asked[] = []
  for (const one of cases) {
    const front = await startPostgresFront(t, connectionString, certificates[one])
    const login = { user: 'spate', password: 'open sesame', host: 'localhost', port: front.port, database }
    const s3Url = `https://localhost:${await startTls(t, one, s3.port)}`
    const url = `https://localhost:${await startTls(t, one, receiverPort)}/batch`
    const bucket = { bucket_name: s3Bucket, region: 'us-east-1', prefix: 'x', endpoint_url: s3Url, ...s3Keys }
    asked.push(
      { type: 'S3', config: bucket, chunk },
      { type: 'Postgres', config: login, chunk },
      { type: 'HTTP', config: { url, token: 'phc_token' }, chunk },
    )
  }
  const askedPath = join(t.testdir(), 'asked.json')
  const authorityPath = join(t.testdirName, 'authority.pem')
  writeFileSync(askedPath, JSON.stringify(asked))
  writeFileSync(authorityPath, ours.certificate)
  const outcomes = async (env: NodeJS.ProcessEnv): Promise<string[]> => {
    const { stdout } = await run(process.execPath, [child, askedPath], { env: { ...process.env, ...env } })
    return JSON.parse(stdout) as string[] // as the child says it
  }
  return { connectionString, s3, received, outcomes, authorityPath }
}

const servers = ['The S3 endpoint', 'The Postgres server', 'The server']
const refusedBy = (sentence: string): string[] =>
  servers.map((server) => `permanent: ${server} shows a certificate that ${sentence}`)

t.test("an operator's own authority is trusted, for the name it says and while it says so", async (t) => {
  const place = await world(t)
  const outcomes = await place.outcomes({ NODE_EXTRA_CA_CERTS: place.authorityPath })
  const of = (one: Case): string[] => outcomes.slice(cases.indexOf(one) * 3, cases.indexOf(one) * 3 + 3)
  t.strictSame(of('right'), ['delivered', 'delivered', 'delivered'])
  t.match(of('wrongName'), refusedBy('names another host (ERR_TLS_CERT_ALTNAME_INVALID).'))
  t.match(of('unknown'), refusedBy('no authority known here has signed (UNABLE_TO_VERIFY_LEAF_SIGNATURE).'))
  t.match(of('expired'), refusedBy('has expired (CERT_HAS_EXPIRED).'))
  t.match(of('future'), refusedBy('is not valid yet (CERT_NOT_YET_VALID).'))
  t.same(await place.s3.keys(), ['x/2024-05-01T11:00:00+00:00-2024-05-01T12:00:00+00:00.jsonl'])
  t.same(await rowsOf(place.connectionString, 'select count(*)::integer as n from events'), [{ n: 3 }])
  t.ok(place.received.length > 0)
})

t.test('without it nothing of it is trusted', async (t) => {
  const place = await world(t)
  const outcomes = await place.outcomes({ NODE_EXTRA_CA_CERTS: '' })
  t.match(
    outcomes.slice(0, 3),
    refusedBy('no authority known here has signed (UNABLE_TO_VERIFY_LEAF_SIGNATURE).'),
  )
  t.match(outcomes[1], /NODE_EXTRA_CA_CERTS/)
  t.strictSame(place.received, [])
})
