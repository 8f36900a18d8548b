// `spate explain` against a running server: the account itself, as text and as JSON.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runExplain } from '../../src/cli/explain.ts'
import { loadConfig } from '../../src/config.ts'
import { batch, event } from '../contract/requests.ts'
import { startServer } from '../support/server.ts'

const server = await startServer(t)
const config = loadConfig({ DATA_DIR: t.testdir() })
const address = { url: server.url, key: server.personalApiKey }
const cli = fileURLToPath(new URL('../../src/cli/spate.js', import.meta.url))

async function send(...events: Parameters<typeof batch>): Promise<void> {
  const reply = await server.post('/batch/', batch(...events))
  if (reply.status !== 200) throw new Error(`answered ${reply.status}: ${reply.text}`)
  await server.settled()
}

const uuid = (n: number) => `00000000-0000-7000-8000-00000000000${n}`
const identify = (n: number, distinctId: string, anon: string) =>
  event(distinctId, {
    uuid: uuid(n),
    event: '$identify',
    timestamp: `2024-05-01T10:0${n}:00Z`,
    properties: { $anon_distinct_id: anon, $set: { plan: 'pro' } },
  })

t.before(async () => {
  await send(
    event('anon', {
      uuid: uuid(1),
      event: '$pageview',
      timestamp: '2024-05-01T10:01:00Z',
      properties: { $current_url: 'https://example.com/' },
    }),
    identify(2, 'anna', 'anon'),
    identify(3, 'bert', 'laptop'),
    identify(4, 'anna', 'bert'),
    event('phone', {
      uuid: uuid(5),
      timestamp: '2024-05-01T10:05:00Z',
      properties: { $process_person_profile: false },
    }),
    identify(6, 'anna', 'phone'),
  )
})

t.test('tells in words which events made a person', async (t) => {
  const text = await runExplain(config, { ...address, distinctId: 'phone', asJson: false })
  const event = (n: number) => `[00000000-0000-7000-8000-00000000000${n}]`
  const lines = [
    'phone in project 1',
    'person 7318c711-4e13-553f-aa67-bd012837acb9, identified, created 2024-05-01T10:01:00Z',
    '',
    'distinct_ids',
    '  phone  (1 events, 1 of them anonymous, 2024-05-01T10:05:00Z to 2024-05-01T10:05:00Z)',
    `    attached by 2024-05-01T10:06:00Z  $identify of anna  ${event(6)} with phone`,
    '  anna  (3 events, 0 of them anonymous, 2024-05-01T10:02:00Z to 2024-05-01T10:06:00Z)',
    `    attached by 2024-05-01T10:02:00Z  $identify of anna  ${event(2)} with anon`,
    '  anon  (1 events, 0 of them anonymous, 2024-05-01T10:01:00Z to 2024-05-01T10:01:00Z)',
    `    born by 2024-05-01T10:01:00Z  $pageview of anon  ${event(1)}`,
    '',
    'merges, in the order they were received',
    `  2024-05-01T10:02:00Z  $identify of anna  ${event(2)} with anon  attached`,
    `  2024-05-01T10:04:00Z  $identify of anna  ${event(4)} with bert  refused: cannot_merge_already_identified`,
    `  2024-05-01T10:06:00Z  $identify of anna  ${event(6)} with phone  attached`,
    '',
    'properties that events set themselves',
    '  $set       plan  (3 events, last 2024-05-01T10:06:00Z)',
    '',
    'ingestion warnings',
    '  cannot_merge_already_identified  last 2024-05-01T12:00:00Z, ' +
      '$identify of anna: "the person of \\"bert\\" is identified already"',
    '',
    'events',
    `  first  2024-05-01T10:01:00Z  $pageview of anon  ${event(1)}`,
    `  last   2024-05-01T10:06:00Z  $identify of anna  ${event(6)}`,
    '',
  ]
  t.same(text.split('\n'), lines)
})

t.test('prints JSON from the command line, of the project with this key', async (t) => {
  const args = [
    'explain',
    'bert',
    '--url',
    server.url,
    '--key',
    server.personalApiKey,
    '--project',
    server.projectApiKey,
    '--json',
  ]
  const { status, stdout } = await run(args)
  t.equal(status, 0)
  t.match(JSON.parse(stdout), {
    distinct_id: 'bert',
    person: { is_identified: true },
    distinct_ids: [
      { distinct_id: 'bert', joined: { outcome: 'created', other_id: 'laptop', by: { uuid: uuid(3) } } },
      { distinct_id: 'laptop', joined: { outcome: 'created' }, event_count: 0 },
    ],
    merges: [
      { outcome: 'created' },
      { outcome: 'refused', reason: 'cannot_merge_already_identified', by: { distinct_id: 'anna' } },
    ],
    notes: [],
  })
})

t.test('says so when what is stored is not the whole story', async (t) => {
  await send(event('lost'), identify(7, 'lost', 'lost-anon'), event('lost-anon'))
  const list = await server.get('/api/projects/1/persons/?distinct_id=lost')
  const [{ uuid: person }] = JSON.parse(list.text).results
  const headers = { authorization: `Bearer ${server.personalApiKey}` }
  await fetch(`${server.url}/api/projects/1/persons/${person}/`, { method: 'DELETE', headers })
  await send(event('lost-anon'))
  const text = await runExplain(config, { ...address, distinctId: 'lost-anon', project: '1', asJson: false })
  t.match(text, /notes\n {2}The stored events alone would give other persons/)
})

t.test('escapes what would change the terminal', async (t) => {
  const evil = 'a\u001b[2J\u202eb c'
  await send(event(evil))
  const text = await runExplain(config, { ...address, distinctId: evil, project: '1', asJson: false })
  t.match(text, /^"a\\u001b\[2J\\u\{202e\}b c" in project 1\n/)
  t.notOk(text.includes('\u001b') || text.includes('\u202e'))
})

function run(args: readonly string[]): Promise<{ status: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [cli, ...args], (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : error.code, stdout, stderr })
    })
  })
}
