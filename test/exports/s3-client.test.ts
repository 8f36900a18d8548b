import https from 'node:https'
import { type Duplex, PassThrough } from 'node:stream'
import t from 'tap'
import { openS3Client, s3Limits } from '../../src/exports/s3-client.ts'
import { uploadFile } from '../../src/exports/s3-upload.ts'
import { config, never, outboundFor } from './staged.ts'

const keys = { aws_access_key_id: 'id', aws_secret_access_key: 'secret', prefix: '' }

t.test('no region and no bucket leads to another host', async (t) => {
  const { httpAgent, httpsAgent } = outboundFor(t)
  const refused = (more: object, message: string) => {
    const given = config('S3', { bucket_name: 'bucket', region: 'eu-west-1', ...keys, ...more })
    return t.rejects(openS3Client(given, { httpAgent, httpsAgent }, s3Limits), { message })
  }
  for (const region of ['evil.example/', 'a.b', '@evil.example', 'x#', '-a', 'a:80', 'ü'])
    await refused({ region }, 'The region is not spelled like one. Change the destination.')
  for (const bucket_name of ['a/b', 'evil.example/x', 'arn:aws:s3:::x', 'u@host', 'x?y', 'ab#c', '..', 'x'])
    await refused({ bucket_name }, 'The bucket name is not spelled like one. Change the destination.')
})

t.test('without an endpoint AWS is called, through the agents that are given', async (t) => {
  const called: string[] = []
  const agent = new https.Agent()
  type OnSocket = (error: Error | null, socket: Duplex) => void
  agent.createConnection = ({ host, port }: https.RequestOptions, onSocket?: OnSocket) => {
    called.push(`${host}:${port}`)
    // Nobody looks at the socket beside an error.
    onSocket?.(new Error('not here'), new PassThrough())
    return undefined
  }
  const hostOf = async (more: object) => {
    const given = config('S3', { bucket_name: 'bucket', region: 'eu-west-1', ...keys, ...more })
    const client = await openS3Client(given, { httpAgent: agent, httpsAgent: agent }, s3Limits)
    const place = { Bucket: String(given.bucket_name), Key: 'key' }
    await t.rejects(uploadFile(client, place, '/dev/null', never), { message: 'not here' })
    return called.at(-1)
  }
  t.equal(await hostOf({}), 'bucket.s3.eu-west-1.amazonaws.com:443')
  t.equal(await hostOf({ bucket_name: 'Bucket_old' }), 's3.eu-west-1.amazonaws.com:443')
  t.equal(await hostOf({ region: 'cn-north-1' }), 'bucket.s3.cn-north-1.amazonaws.com.cn:443')
  const endpoint_url = 'https://s3.example:9000'
  t.equal(await hostOf({ endpoint_url }), 's3.example:9000')
  t.equal(await hostOf({ endpoint_url, use_virtual_style_addressing: true }), 'bucket.s3.example:9000')
})
