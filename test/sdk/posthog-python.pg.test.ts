// posthog-python, as published, when this machine has it: what it captures is stored once, as it was meant.

import t from 'tap'
import { readStoredRows } from '../support/rows.ts'
import { startServerProcess } from '../support/server.ts'
import { openGate } from './gate.ts'
import { pythonProgram } from './program.ts'

const { sdk, skip, run } = pythonProgram()

t.test(sdk, { skip }, async (t) => {
  const server = await startServerProcess(t)

  await t.test('tells who is who: people, aliases, groups, exceptions', async (t) => {
    const gate = await openGate(t, server.url)
    await run('capture', server.projectApiKey, gate.url, 'people')
    const sent = gate.captures().flatMap((passage) => passage.events)
    const rows = await server.storedEvents({})
    t.same(rows.map((row) => row.id).sort(), sent.map((event) => event.uuid).sort())
    t.same(
      rows.map((row) => row.event),
      ['anonymous visit', 'signed up', '$set', '$set_once', '$create_alias', '$groupidentify', '$exception'],
    )
    const [visit, signedUp, set, setOnce, alias, group, exception] = rows
    t.match(visit?.distinct_id, /^[0-9a-f-]{36}$/, 'the SDK made an id')
    t.match(visit, { person: null, properties: { $process_person_profile: false } })
    t.match(signedUp, {
      id: '0190a8f0-0000-7000-8000-000000000001',
      distinct_id: 'ada',
      properties: {
        plan: 'pro',
        seats: 7,
        nested: { deep: [1, null, 'ü 🦔'] },
        when: '2023-01-01T12:00:00+00:00',
        $groups: { company: 'acme' },
        $group_0: 'acme',
        $lib: 'posthog-python',
        $lib_version: sdk.split(' ')[1],
      },
    })
    const happened = Date.parse('2023-01-01T12:00:00.250Z')
    t.ok(rows.slice(0, -1).every((row) => Math.abs(Date.parse(row.timestamp) - happened) < 5000))
    t.match(
      [set?.properties, setOnce?.properties],
      [{ $set: { email: 'ada@example.com' } }, { $set_once: { first: 'here' } }],
    )
    t.match(alias, { distinct_id: 'visitor', properties: { alias: 'ada' } })
    t.match(group?.properties, { $group_type: 'company', $group_key: 'acme', $group_set: { tier: 'gold' } })
    t.match(exception?.properties, { $exception_list: [{ type: 'ValueError', value: 'broken' }] })

    const persons = await server.get('/api/projects/@current/persons/?distinct_id=visitor')
    t.match(JSON.parse(persons.text).results, [
      { distinct_ids: ['ada', 'visitor'], properties: { email: 'ada@example.com', first: 'here' } },
    ])
    const path = '/api/projects/@current/groups/find/?group_type_index=0&group_key=acme'
    t.match(JSON.parse((await server.get(path)).text), { group_properties: { tier: 'gold' } })
    const warnings = await server.get('/api/projects/@current/ingestion_warnings/')
    t.same(JSON.parse(warnings.text).results, [])
  })

  await t.test('sends again what was answered 503, and it is stored once', async (t) => {
    const gate = await openGate(t, server.url)
    gate.failNext('lose')
    await run('capture', server.projectApiKey, gate.url, 'again')
    t.same(
      gate.captures().map(({ status, events }) => [status, events.length]),
      [
        [503, 50],
        [200, 50],
        [200, 50],
        [200, 20],
      ],
    )
    const sent = gate.captures().flatMap(({ events }) => events.map(({ uuid }) => uuid))
    const rows = await server.storedEvents({ distinct_id: 'python again' })
    t.same(
      rows.map((row) => row.id),
      [...new Set(sent)],
    )
    t.equal(rows.length, 120)
  })

  await t.test('sends history and the present, each stored once (case 108)', async (t) => {
    for (const scenario of ['history', 'present']) {
      const gate = await openGate(t, server.url)
      await run('capture', server.projectApiKey, gate.url, scenario)
      t.ok(gate.captures().every((passage) => passage.status === 200))
      t.equal(gate.captures().flatMap((passage) => passage.events).length, 120)
      const rows = await server.storedEvents({ distinct_id: `python ${scenario}` })
      t.same(
        rows.map((row) => [row.event, row.properties.n, row.properties.text]),
        Array.from({ length: 120 }, (_, n) => [`event ${n}`, n, 'ü 🦔']),
      )
      t.ok(Math.abs(Date.parse(rows[0]?.timestamp ?? '') - Date.parse('2023-01-01T12:00:00Z')) < 5000)
    }
    t.equal(await server.stop(), 0)
    t.ok((await readStoredRows(server.dataDir, 'python history')).every((row) => row.historical))
    t.ok((await readStoredRows(server.dataDir, 'python present')).every((row) => !row.historical))
  })
})
