import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { RunSubject, StagedChunk } from '../../src/exports/delivery.ts'
import { s3Destination, s3DestinationWith } from '../../src/exports/s3-destination.ts'
import { startDns } from '../support/dns.ts'
import { s3Bucket, s3Keys, s3Refusal, startS3 } from '../support/s3.ts'
import { until } from '../support/until.ts'
import { everythingOf } from './everything-of.ts'
import { config, duckdb, eventRows, folder, never, outboundFor, stage, subject } from './staged.ts'

const name = '2024-05-01T11:00:00+00:00-2024-05-01T12:00:00+00:00'

function s3Config(s3: { readonly endpoint: string }, more: Readonly<Record<string, unknown>> = {}) {
  const place = { bucket_name: s3Bucket, region: 'us-east-1', prefix: 'events', endpoint_url: s3.endpoint }
  return config('S3', { ...place, ...s3Keys, ...more })
}

async function open(t: Test, s3: { readonly endpoint: string }, more = {}, run: RunSubject = subject) {
  return await s3Destination.open(s3Config(s3, more), run, outboundFor(t), never)
}

const formats = [
  ['JSONLines', null, 'jsonl'],
  ['JSONLines', 'gzip', 'jsonl.gz'],
  ['JSONLines', 'brotli', 'jsonl.br'],
  ['Parquet', null, 'parquet'],
  ['Parquet', 'zstd', 'parquet.zst'],
  ['Parquet', 'lz4', 'parquet.lz4'],
  ['Parquet', 'snappy', 'parquet.sz'],
  ['Parquet', 'gzip', 'parquet.gz'],
  ['Parquet', 'brotli', 'parquet.br'],
] as const

t.test('every format and compression arrives as it was staged, with its types', async (t) => {
  const s3 = await startS3(t)
  for (const [file_format, compression, extension] of formats) {
    const given = s3Config(s3, { file_format, compression })
    const delivery = await s3Destination.open(given, subject, outboundFor(t), never)
    const chunk = await stage(t, s3Destination.format(given))
    await delivery.deliver(chunk, never)
    await delivery.finish([chunk], never)
    await delivery.close()
    const bytes = await s3.object(`events/${name}.${extension}`)
    const path = join(folder(t), `arrived.${extension}`)
    writeFileSync(
      path,
      compression === 'brotli' && file_format === 'JSONLines' ? brotliDecompressSync(bytes) : bytes,
    )
    t.same(await readBack(path, file_format), eventRows.map(expected), `${file_format} ${compression}`)
  }
  t.same((await s3.keys()).length, formats.length)
})

/** The rows with all values as text, and the types that the file gives them. */
async function readBack(path: string, file_format: string) {
  const types = `uuid: 'uuid', event: 'varchar', distinct_id: 'varchar', properties: 'json', elements_chain: 'varchar',
    timestamp: 'timestamp', team_id: 'bigint', score: 'double', is_late: 'boolean'`
  const gzip = path.endsWith('.gz') ? ", compression = 'gzip'" : ''
  const source =
    file_format === 'Parquet'
      ? `read_parquet('${path}')`
      : `read_ndjson('${path}', columns = {${types}}${gzip})`
  if (file_format === 'Parquet') {
    const described = await duckdb(`describe select * from ${source}`)
    t.same(
      described.map(({ column_type }) => column_type),
      ['VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR', 'TIMESTAMP', 'BIGINT', 'DOUBLE', 'BOOLEAN'],
    )
  }
  return await duckdb(
    `select * replace (properties::varchar as properties, timestamp::varchar as timestamp)
     from ${source} order by uuid`,
  )
}

function expected(row: (typeof eventRows)[number]) {
  return { ...row, timestamp: row.timestamp.replace(/\.(\d+?)0+$/, '.$1') }
}

t.test('a large file goes up in parts, and the same chunk again overwrites it', async (t) => {
  const s3 = await startS3(t)
  const delivery = await open(t, s3, { encryption: 'aws:kms', kms_key_id: 'key-1', prefix: 'x/{year}' })
  const chunk = bigChunk(t, 20)
  await delivery.deliver(chunk, never)
  const key = `x/2024/${name}.jsonl`
  t.ok((await s3.object(key)).equals(readFileSync(chunk.path)))
  const [created] = s3.requests.filter(({ method }) => method === 'POST')
  t.match(created, {
    url: /\?uploads/,
    headers: {
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'key-1',
    },
  })
  t.equal(s3.requests.filter(({ url }) => url.includes('partNumber=')).length, 3)
  await delivery.deliver(chunk, never)
  t.same(await s3.keys(), [key])
  await delivery.close()
})

t.test('further files carry their number, and a manifest lists the files of a limited size', async (t) => {
  const s3 = await startS3(t)
  const given = s3Config(s3, { max_file_size_mb: 1, encryption: 'AES256' })
  t.equal(s3Destination.chunkBytesMax(given), 1_048_576)
  t.equal(s3Destination.chunkBytesMax(s3Config(s3)), null)
  const delivery = await s3Destination.open(given, subject, outboundFor(t), never)
  const chunk = await stage(t, s3Destination.format(given))
  for (const index of [0, 1]) await delivery.deliver({ ...chunk, index }, never)
  await delivery.finish(
    [1, 0].map((index) => ({ ...chunk, index })),
    never,
  )
  t.same(await s3.keys(), [`events/${name}-1.jsonl`, `events/${name}.jsonl`, `events/${name}_manifest.json`])
  t.same(JSON.parse((await s3.object(`events/${name}_manifest.json`)).toString()), {
    files: [`events/${name}.jsonl`, `events/${name}-1.jsonl`],
  })
  t.ok(s3.requests.every(({ headers }) => headers['x-amz-server-side-encryption'] === 'AES256'))
})

t.test('an interval that is exported again takes away the files that it needs no more', async (t) => {
  const s3 = await startS3(t)
  const given = { max_file_size_mb: 1 }
  const chunk = await stage(t, s3Destination.format(s3Config(s3)))
  const first = await open(t, s3, given)
  for (const index of [0, 1, 2]) await first.deliver({ ...chunk, index }, never)
  await first.finish(
    [0, 1, 2].map((index) => ({ ...chunk, index })),
    never,
  )
  const second = await open(t, s3, given, { ...subject, mayRepeat: true, earlierChunkCount: 3 })
  await second.deliver(chunk, never)
  await second.finish([chunk, { ...chunk, index: 1, recordCount: 0 }], never) // deleted since it was sent
  t.same(await s3.keys(), [`events/${name}.jsonl`, `events/${name}_manifest.json`])
  const third = await open(t, s3, given, { ...subject, mayRepeat: true, earlierChunkCount: 1 })
  await third.finish([], never)
  t.same(await s3.keys(), [])
})

t.test('an upload that is stopped halfway leaves no object and is ended', async (t) => {
  const s3 = await startS3(t)
  const delivery = await open(t, s3)
  const stopping = new AbortController()
  s3.intercept = (request) => {
    // The second part is never answered.
    return request.url?.includes('partNumber=2') === true
  }
  const delivering = delivery.deliver(bigChunk(t, 30), stopping.signal)
  await until(() => s3.requests.some(({ url }) => url.includes('partNumber=2')))
  stopping.abort(new Error('cancelled'))
  await t.rejects(delivering, { message: 'cancelled' })
  t.same(s3.requests.at(-1)?.method, 'DELETE')
  t.match(s3.requests.at(-1)?.url, /uploadId=/)
  t.same(await s3.keys(), [])
})

t.test('an upload whose file has become shorter fails and is ended', async (t) => {
  const s3 = await startS3(t)
  const delivery = await open(t, s3)
  const chunk = bigChunk(t, 20)
  s3.intercept = (request) => {
    if (request.method === 'POST') truncateSync(chunk.path, 1024)
    return false
  }
  await t.rejects(delivery.deliver(chunk, never), { message: 'The upload to S3 failed on the way.' })
  t.equal(s3.requests.at(-1)?.method, 'DELETE')
})

t.test('what S3 refuses is told in a sentence, and whether it may pass', async (t) => {
  const s3 = await startS3(t)
  const chunk = await stage(t, { kind: 'jsonl', compression: null })
  const failure = async (more: object) =>
    await open(t, s3, more)
      .then((delivery) => delivery.deliver(chunk, never))
      .then(
        () => null,
        ({ kind, message }) => `${kind}: ${message}`,
      )
  t.match(await failure({ aws_access_key_id: 'AKIANOBODY' }), /^permanent: S3 does not know the access key\./)
  t.match(await failure({ aws_secret_access_key: 'wrong' }), /^permanent: S3 does not accept the signature/)
  t.match(await failure({ bucket_name: 'no-such-bucket' }), /^permanent: The bucket does not exist\./)
  const answers: readonly [number, string, RegExp][] = [
    [403, 'AccessDenied', /^permanent: S3 denies access: the credentials need s3:PutObject/],
    [301, 'PermanentRedirect', /^permanent: The bucket is in another region\./],
    [307, 'TemporaryRedirect', /^permanent: The endpoint answers with a redirect/],
    [400, 'KMS.NotFoundException', /^permanent: S3 cannot use the KMS key\./],
    [507, 'XMinioStorageFull', /^temporary: The storage is full\./],
    [403, 'QuotaExceeded', /^temporary: The storage is full: its quota is used up\./],
    [418, 'Teapot', /^permanent: S3 refuses the request with status 418\./],
    [404, 'NoSuchUpload', /^temporary: The upload was ended by somebody else\./],
  ]
  for (const [status, code, sentence] of answers) {
    s3.intercept = (_request, response) => s3Refusal(response, status, code)
    t.match(await failure({}), sentence, code)
  }
  s3.intercept = (_request, response) => s3Refusal(response, 503, 'SlowDown')
  const before = s3.requests.length
  t.equal(await failure({}), 'temporary: S3 asks to slow down.')
  t.equal(s3.requests.length - before, 3, 'tried three times')
})

t.test('an endpoint that is not there or may not be called', async (t) => {
  const chunk = await stage(t, { kind: 'jsonl', compression: null })
  const closed = await startS3(t)
  const dns = await startDns(t, (type) => (type === 'A' ? ['10.0.0.1'] : []))
  const attempt = async (endpoint: string, allow: string | null, dnsServers: string | null) => {
    const outbound = outboundFor(t, allow, dnsServers)
    const delivery = await s3Destination.open(s3Config({ endpoint }), subject, outbound, never)
    return await delivery.deliver(chunk, never).then(
      () => null,
      ({ kind, message }) => `${kind}: ${message}`,
    )
  }
  t.equal(
    await attempt('http://127.0.0.1:9', '127.0.0.1:9', null),
    'temporary: The S3 endpoint could not be reached (ECONNREFUSED).',
  )
  t.equal(
    await attempt(closed.endpoint, null, null),
    'permanent: The S3 endpoint may not be called: It leads into a private network.',
  )
  t.equal(
    await attempt('https://inside.example', null, dns.address),
    'permanent: The S3 endpoint may not be called: It leads into a private network.',
  )
  t.equal(closed.requests.length, 0)
})

t.test('a server that takes a request and says nothing is given up', async (t) => {
  const s3 = await startS3(t)
  s3.intercept = () => true
  const hasty = s3DestinationWith({ silentMsMax: 200, requestMsMax: 10_000 })
  const hurried = s3DestinationWith({ silentMsMax: 10_000, requestMsMax: 200 })
  for (const destination of [hasty, hurried]) {
    const delivery = await destination.open(s3Config(s3), subject, outboundFor(t), never)
    await t.rejects(delivery.deliver(await stage(t, { kind: 'jsonl', compression: null }), never), {
      message: 'The S3 endpoint did not answer in time.',
    })
  }
  t.equal(s3.requests.length, 6, 'each tried three times')
})

t.test('a redirect to another address is not followed', async (t) => {
  const s3 = await startS3(t)
  const other = await startS3(t)
  s3.intercept = (_request, response) => {
    response.writeHead(302, { location: `${other.endpoint}/stolen` }).end()
    return true
  }
  const delivery = await open(t, s3)
  await t.rejects(delivery.deliver(await stage(t, { kind: 'jsonl', compression: null }), never), {
    kind: 'permanent',
    message: 'The endpoint answers with a redirect, which is not followed.',
  })
  t.equal(other.requests.length, 0)
})

t.test("this machine's own credentials are not used", async (t) => {
  const s3 = await startS3(t)
  const env = { ...process.env, AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
  t.intercept(process, 'env', { value: env })
  await t.rejects(open(t, s3, { aws_access_key_id: null, aws_secret_access_key: null }), {
    message: /^The destination has no credentials\./,
  })
})

t.test('no secret leaves with an error', async (t) => {
  const s3 = await startS3(t)
  const secrets = { aws_access_key_id: 'AKIA-very-secret-id', aws_secret_access_key: 'very-secret-key' }
  const chunk = await stage(t, { kind: 'jsonl', compression: null })
  const said: string[] = []
  const errorOf = async () => {
    const delivery = await open(t, s3, secrets)
    const error: unknown = await delivery.deliver(chunk, never).catch((error) => error)
    said.push(everythingOf(error))
  }
  await errorOf()
  s3.intercept = (request, response) => {
    const { authorization = '' } = request.headers
    return s3Refusal(response, 403, 'SignatureDoesNotMatch', `${authorization} ${Object.values(secrets)}`)
  }
  await errorOf()
  s3.intercept = (request) => {
    request.socket.destroy()
    return true
  }
  await errorOf()
  t.equal(said.length, 3)
  for (const text of said) t.notMatch(text, /very-secret|AWS4-HMAC/)
})

/** A staged file of so many MiB. */
function bigChunk(t: Test, mebibytes: number): StagedChunk {
  const path = join(folder(t), 'chunk')
  const bytes = Buffer.alloc(mebibytes * 1024 * 1024)
  for (let at = 0; at < bytes.length; at += 4096) bytes.writeUInt32LE(at, at)
  writeFileSync(path, bytes)
  return { index: 0, path, bytes: bytes.length, recordCount: 1, columns: [], isLast: true }
}
