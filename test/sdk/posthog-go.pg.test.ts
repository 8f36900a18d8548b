// posthog-go, as published, when this machine has Go and the module: what it captures is stored as it was meant.

import t from 'tap'
import { readStoredRows } from '../support/rows.ts'
import { startServerProcess } from '../support/server.ts'
import { openGate } from './gate.ts'
import { goProgram } from './program.ts'

const { sdk, skip, run } = goProgram()

t.test(sdk, { skip }, async (t) => {
  const server = await startServerProcess(t)

  await t.test('tells who is who: people, aliases, groups', async (t) => {
    const gate = await openGate(t, server.url)
    await run('people', server.projectApiKey, gate.url)
    const rows = await server.storedEvents({})
    t.same(
      rows.map((row) => [row.event, row.distinct_id]),
      [
        ['signed up', 'ada'],
        ['$identify', 'ada'],
        ['$create_alias', 'ada'], // it says so in the properties only
        ['$groupidentify', '$company_acme'],
      ],
    )
    t.ok(rows.every((row) => row.timestamp === '2023-01-01T12:00:00.250000Z'))
    const [signedUp, identify, alias, group] = rows
    t.match(signedUp, {
      id: '0190a8f0-0000-7000-8000-000000000001',
      properties: {
        plan: 'pro',
        seats: 7,
        nested: { deep: [1, null, 'ü 🦔'] },
        $groups: { company: 'acme' },
        $group_0: 'acme',
        $lib: 'posthog-go',
        $lib_version: sdk.split(' ')[1],
      },
    })
    t.match(identify?.properties, { $set: { email: 'ada@example.com' } })
    t.match(alias?.properties, { distinct_id: 'ada', alias: 'visitor' })
    t.match(group?.properties, { $group_type: 'company', $group_key: 'acme', $group_set: { tier: 'gold' } })

    const persons = await server.get('/api/projects/@current/persons/?distinct_id=visitor')
    t.match(JSON.parse(persons.text).results, [
      { distinct_ids: ['ada', 'visitor'], properties: { email: 'ada@example.com' } },
    ])
    const path = '/api/projects/@current/groups/find/?group_type_index=0&group_key=acme'
    t.match(JSON.parse((await server.get(path)).text), { group_properties: { tier: 'gold' } })
    const warnings = await server.get('/api/projects/@current/ingestion_warnings/')
    t.same(JSON.parse(warnings.text).results, [])
  })

  await t.test('sends history and the present at their times', async (t) => {
    for (const scenario of ['history', 'present']) {
      const gate = await openGate(t, server.url)
      await run(scenario, server.projectApiKey, gate.url)
      t.ok(gate.captures().every((passage) => passage.status === 200))
      // Batches are sent at once, each from a routine of its own; it says no sent_at, so times are as they were.
      const rows = await server.storedEvents({ distinct_id: `go ${scenario}` })
      t.same(
        rows.map((row) => [row.event, row.properties.n, row.properties.text, Date.parse(row.timestamp)]),
        Array.from({ length: 120 }, (_, n) => [`event ${n}`, n, 'ü 🦔', 1_672_574_400_000 + n * 60_000]),
      )
    }
    t.equal(await server.stop(), 0)
    t.ok((await readStoredRows(server.dataDir, 'go history')).every((row) => row.historical))
    t.ok((await readStoredRows(server.dataDir, 'go present')).every((row) => !row.historical))
  })
})
