import t from 'tap'
import { projectSql } from '../../src/api/tenant-sql.ts'
import { type CopiedPage, type CopiedTable, copiedTables } from '../../src/events/copied-rows.ts'
import { copyPersons } from '../../src/management/copied-persons.ts'
import { openWorld } from '../api/world.ts'

const world = await openWorld(t)
const { postgres } = world.management
const personsCount = 5_001

t.before(async () => {
  for (const projectId of [1, 2]) {
    await postgres.query(
      `insert into person (project_id, uuid, created_at, is_identified, version, properties, properties_bytes)
       select $1::integer, md5($1::integer || ' ' || n)::uuid, '2024-05-01T12:00:00.5Z', n = 0, 0,
         jsonb_build_object('n', n, 'text', repeat('x', 100), 'project', $1::integer, 'null', null), 0
       from generate_series(0, $2::integer - 1) n`,
      [projectId, personsCount],
    )
    await postgres.query(
      `insert into person_distinct_id select project_id, 'id ' || (properties ->> 'n') || chr(30), uuid
       from person where project_id = $1`,
      [projectId],
    )
    await postgres.query(
      `insert into project_group (project_id, type_index, key, created_at, version, properties, properties_bytes)
       select $1, index, 'key ' || n || chr(30), now(), 1, '{"name": "x"}', 0
       from generate_series(0, 2) index, generate_series(1, 2000) n`,
      [projectId],
    )
  }
})

interface Needs {
  readonly tables?: readonly CopiedTable[]
  readonly keys?: readonly string[] | null
}

async function copied(
  { tables = copiedTables, keys = null }: Needs,
  limits?: { rowsMax: number; bytesMax: number },
) {
  const pages: CopiedPage[] = []
  const project = { id: 1, organization: { id: '00000000-0000-0000-0000-000000000001' } }
  // Its id and its organization's are what the wall needs of a project.
  const sql = projectSql(postgres, 1, project as Parameters<typeof projectSql>[2])
  const needs = { projectId: 1, tables, keys }
  await copyPersons(sql, needs, async (page) => void pages.push(page), limits)
  return (table: CopiedTable, column: number): string[] =>
    pages.filter((page) => page.table === table).flatMap((page) => page.columns[column]!.split('\x1e'))
}

t.test('copies every row of the project once, page by page', async (t) => {
  const column = await copied({})
  t.equal(new Set(column('person', 0)).size, personsCount)
  t.strictSame(new Set(column('person', 1)), new Set(['1714564800500000']))
  t.equal(column('person', 2).filter((text) => text === 't').length, 1)
  const properties = column('person', 3).map((text) => JSON.parse(text))
  t.ok(properties.every(({ project }) => project === 1))
  t.equal(new Set(properties.map(({ n }) => n)).size, personsCount)
  t.equal(new Set(column('distinct_id', 0)).size, personsCount)
  t.ok(column('distinct_id', 0).includes('"id 7\\u001e"'))
  const groups = column('group', 0).map((index, at) => `${index} ${column('group', 1)[at]}`)
  t.equal(new Set(groups).size, 6000)
})

t.test('copies the properties that are asked for', async (t) => {
  const column = await copied({ tables: ['person'], keys: ['n', 'null', 'absent'] })
  t.match(column('person', 3)[0], /^\{"n": \d+, "null": null\}$/)
  t.strictSame(new Set((await copied({ tables: ['person'], keys: [] }))('person', 3)), new Set(['{}']))
})

t.test('refuses more than its limits', async (t) => {
  const tables = ['person'] as const
  const bytesMax = 1024 * 1024
  await copied({ tables }, { rowsMax: personsCount, bytesMax })
  await t.rejects(copied({ tables }, { rowsMax: personsCount - 1, bytesMax }), {
    code: 'invalid_input',
    detail:
      'A query reads at most 5000 persons, ids and groups, or 1 MiB of their properties: name the properties it ' +
      'needs, as in person.properties.email',
  })
  await t.rejects(copied({ tables, keys: ['text'] }, { rowsMax: personsCount, bytesMax: 1000 }), {
    code: 'invalid_input',
    detail: /of their properties$/,
  })
})
