import t from 'tap'
import { openOutbound } from '../../src/outbound/outbound.ts'
import { jsonOf, validationError } from '../api/world.ts'
import { makeExport, openExportWorld, s3 } from './batch-export-world.ts'

const database = {
  name: 'to postgres',
  destination: {
    type: 'Postgres',
    config: { user: 'writer', password: 'verysecret', host: '5.6.7.8', database: 'events' },
  },
  interval: 'hour',
}
const http = {
  name: 'to http',
  destination: { type: 'HTTP', config: { url: 'https://5.6.7.8/in', token: 'verysecret' } },
  interval: 'hour',
}

t.test('secrets do not go along to another address', async (t) => {
  const world = await openExportWorld(t)
  const sealed = async () =>
    (await world.postgres.query('select destination_config, destination_secrets from batch_export')).rows
  const refusals: [body: { destination: { type: string } }, config: object, missing: string][] = [
    [s3, { endpoint_url: 'https://5.6.7.9/' }, 'aws_access_key_id, aws_secret_access_key'],
    [s3, { endpoint_url: 'https://5.6.7.9/', aws_access_key_id: 'AKIAOTHER' }, 'aws_secret_access_key'],
    [database, { host: '5.6.7.9' }, 'user, password'],
    [database, { port: 6543 }, 'user, password'],
    [database, { host: '5.6.7.9', user: 'writer' }, 'password'],
    [http, { url: 'https://5.6.7.9/in' }, 'token'],
    [http, { url: 'http://5.6.7.8/in' }, 'token'],
    [http, { url: 'https://5.6.7.8:8443/in' }, 'token'],
  ]
  for (const [body, config, missing] of refusals) {
    const path = await makeExport(world, body)
    const before = await sealed()
    const { type } = body.destination
    for (const [method, sent] of [
      ['PATCH', { destination: { config } }],
      ['PUT', { ...body, destination: { type, config } }],
    ] as const) {
      const detail =
        'The address has changed, and stored secrets stay where they were meant to go: ' +
        `send ${missing} again.`
      const reply = await world.send(method, path, sent)
      t.match(reply, validationError('invalid_input', detail, 'destination'))
    }
    t.strictSame(await sealed(), before, 'nothing is stored')
    t.equal((await world.send('DELETE', path, null)).status, 204)
  }
})

t.test('an address changes with new secrets, or without secrets', async (t) => {
  const world = await openExportWorld(t)
  const change = async (body: object, config: object) => {
    const path = await makeExport(world, body)
    const reply = await world.send('PATCH', path, { destination: { config } })
    t.equal(reply.status, 200, reply.text)
    return jsonOf(reply).destination.config
  }
  const moved = { host: '5.6.7.9', user: 'writer', password: 'another' }
  t.strictSame(await change(database, moved), { host: '5.6.7.9', database: 'events' })
  const none = { aws_access_key_id: null, aws_secret_access_key: null, endpoint_url: 'https://5.6.7.9/' }
  t.equal((await change(s3, none)).endpoint_url, 'https://5.6.7.9/')
  // The same place in other words, and another path there.
  t.equal((await change(http, { url: 'https://5.6.7.8:443/out' })).url, 'https://5.6.7.8:443/out')
  t.equal((await change(database, { port: '5432', table_name: 'other' })).table_name, 'other')
})

t.test('an address of which two change a half each is judged as a whole', async (t) => {
  const outbound = openOutbound({
    allow: '10.0.0.1:5432,10.0.0.1:7000,5.6.7.8:6000,5.6.7.8:7000',
    dnsServers: '127.0.0.1:1',
  })
  let meanwhile: (() => Promise<unknown>) | null = null
  const world = await openExportWorld(t, {
    outbound: {
      ...outbound,
      async checkHost(...asked) {
        const act = meanwhile
        meanwhile = null
        await act?.()
        return outbound.checkHost(...asked)
      },
    },
  })
  const path = await makeExport(world, database)
  const patch = (config: object) =>
    world.send('PATCH', path, { destination: { config: { user: 'u', password: 'p', ...config } } })
  meanwhile = () => patch({ port: 6000 })
  t.match(
    await patch({ host: '10.0.0.1' }),
    validationError('invalid_input', 'Port 6000 is not called.', 'destination'),
  )
  t.match(jsonOf(await world.get(path)).destination.config, { host: '5.6.7.8', port: 6000 })
  await patch({ port: 5432 })
  meanwhile = () => patch({ port: 7000 })
  t.equal((await patch({ host: '10.0.0.1' })).status, 200)
  t.match(jsonOf(await world.get(path)).destination.config, { host: '10.0.0.1', port: 7000 })
})
