import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FlagDefinition } from '../../src/flags/definition.ts'
import { type OpenFlagDefinitions, openFlagDefinitions } from '../../src/flags/definitions.ts'
import { openPostgres, type Postgres } from '../../src/postgres/pool.ts'
import { addGroupType } from '../management/identities.ts'
import { addProjects } from '../persons/world.ts'
import { freshPostgres, silentLog as log } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const featureId = '00000000-0000-4000-8000-0000000000f1'

async function openPostgresWithProjects(t: Test): Promise<Postgres> {
  const postgres = await freshPostgres(t)
  await addProjects(postgres)
  return postgres
}

async function openDefinitions(t: Test, postgres: Postgres, file: string): Promise<OpenFlagDefinitions> {
  const definitions = await openFlagDefinitions({ postgres, file, log })
  t.teardown(() => definitions.close())
  return definitions
}

function nowhere(t: Test): Postgres {
  const postgres = openPostgres({ connectionString: 'postgresql://spate@127.0.0.1:1/spate', log })
  t.teardown(() => postgres.close())
  return postgres
}

async function addFlag(postgres: Postgres, projectId: number, key: string): Promise<number> {
  const { rows } = await postgres.query<{ id: number }>(
    `insert into feature_flag (project_id, key, filters) values ($1, $2, '{"groups": []}') returning id`,
    [projectId, key],
  )
  return rows[0]!.id
}

function keysOf(definitions: OpenFlagDefinitions, projectId: number): string[] | undefined {
  return definitions.of(projectId)?.flags.map((flag: FlagDefinition) => flag.key)
}

t.test('holds everything that a project has defined and has not deleted', async (t) => {
  const postgres = await openPostgresWithProjects(t)
  await postgres.query(
    `insert into feature_flag (project_id, key, name, filters, active, version, ensure_experience_continuity,
       evaluation_runtime, evaluation_tags, is_remote_configuration, has_encrypted_payloads, bucketing_identifier)
     values (1, 'beta', 'Beta', '{"groups": [{"rollout_percentage": 33.3}]}', false, 7, true,
       'server', '{web,"a b"}', true, true, 'device_id')`,
  )
  await postgres.query(
    `insert into feature_flag (project_id, key, filters, deleted) values (1, 'beta', '{}', true)`,
  )
  await postgres.query(
    `insert into cohort (project_id, name, is_static, filters, deleted) values
       (1, 'Pro', false, '{"properties": {"type": "AND", "values": []}}', false), (1, 'List', true, '{}', false),
       (1, 'Gone', true, '{}', true)`,
  )
  await postgres.query(
    `insert into early_access_feature (id, project_id, flag_id, name, description, stage, documentation_url)
     values ($1, 1, 1, 'Beta', 'Try it', 'beta', 'https://docs')`,
    [featureId],
  )
  await addGroupType(postgres, 1, 1, 'company')

  const definitions = await openDefinitions(t, postgres, join(t.testdir(), 'definitions.snapshot'))

  t.same(definitions.of(1), {
    flags: [
      {
        id: 1,
        key: 'beta',
        name: 'Beta',
        active: false,
        version: 7,
        filters: { groups: [{ rollout_percentage: 33.3 }] },
        ensureExperienceContinuity: true,
        evaluationRuntime: 'server',
        evaluationTags: ['web', 'a b'],
        isRemoteConfiguration: true,
        hasEncryptedPayloads: true,
        bucketingIdentifier: 'device_id',
      },
    ],
    cohorts: new Map([
      [1, { id: 1, isStatic: false, properties: { type: 'AND', values: [] } }],
      [2, { id: 2, isStatic: true, properties: null }],
    ]),
    groupTypes: new Map([[1, 'company']]),
    earlyAccessFeatures: [
      {
        id: featureId,
        name: 'Beta',
        description: 'Try it',
        stage: 'beta',
        documentationUrl: 'https://docs',
        flagKey: 'beta',
      },
    ],
  })
  const nothing = { flags: [], cohorts: new Map(), groupTypes: new Map(), earlyAccessFeatures: [] }
  t.same(definitions.of(2), nothing, 'the other project has defined nothing')
  t.equal(definitions.of(3), null, 'there is no such project')
})

t.test('is told of every kind of change, and leaves other projects as they are', async (t) => {
  const postgres = await openPostgresWithProjects(t)
  await addFlag(postgres, 2, 'other')
  const definitions = await openDefinitions(t, postgres, join(t.testdir(), 'definitions.snapshot'))
  const other = definitions.of(2)
  const changes: [sql: string, seen: () => boolean | undefined][] = [
    [
      `insert into feature_flag (project_id, key, filters) values (1, 'a', '{}')`,
      () => keysOf(definitions, 1)?.includes('a'),
    ],
    [`update feature_flag set key = 'b' where key = 'a'`, () => keysOf(definitions, 1)?.includes('b')],
    [
      `insert into cohort (project_id, name, is_static, filters) values (1, 'c', true, '{}')`,
      () => definitions.of(1)?.cohorts.size === 1,
    ],
    ['update cohort set deleted = true', () => definitions.of(1)?.cohorts.size === 0],
    [
      `insert into early_access_feature (id, project_id, name, stage) values ('${featureId}', 1, 'f', 'beta')`,
      () => definitions.of(1)?.earlyAccessFeatures.length === 1,
    ],
    [
      `insert into group_type (project_id, type_index, name) values (1, 0, 'company')`,
      () => definitions.of(1)?.groupTypes.get(0) === 'company',
    ],
    [
      `insert into project (id, uuid, organization_id, api_token)
       select 9, gen_random_uuid(), id, 'phc_9' from organization`,
      () => definitions.of(9)?.flags.length === 0,
    ],
    ['delete from project where id = 1', () => definitions.of(1) === null],
  ]
  for (const [sql, seen] of changes) {
    await postgres.query(sql)
    // Long before everything is read again, which is once a minute.
    await until(() => seen() === true)
    t.pass(sql)
  }
  t.equal(definitions.of(2), other, 'the very same object')
})

t.test('reads everything again when its connection was lost', async (t) => {
  const postgres = await openPostgresWithProjects(t)
  let notify = (_payload: string | null): void => {}
  const deaf: Postgres = {
    ...postgres,
    listen(_channel, onNotify) {
      notify = onNotify
      return { close: async () => {} }
    },
  }
  const definitions = await openDefinitions(t, deaf, join(t.testdir(), 'definitions.snapshot'))
  await addFlag(postgres, 1, 'missed')
  await addFlag(postgres, 2, 'told')
  notify('2')
  await until(() => keysOf(definitions, 2)?.length === 1)
  t.same(keysOf(definitions, 1), [])
  notify(null)
  await until(() => keysOf(definitions, 1)?.length === 1)
})

t.test('goes on from its copy while the database is down', async (t) => {
  const postgres = await openPostgresWithProjects(t)
  await addFlag(postgres, 1, 'a "quoted" ü')
  const file = join(t.testdir(), 'definitions.snapshot')
  const first = await openFlagDefinitions({ postgres, file, log })
  await addFlag(postgres, 1, 'b')
  await until(() => keysOf(first, 1)?.length === 2)
  await first.close()
  t.equal(statSync(file).mode & 0o777, 0o600)

  const definitions = await openDefinitions(t, nowhere(t), file)
  t.same(definitions.of(1), first.of(1))
  t.same(keysOf(definitions, 1), ['a "quoted" ü', 'b'])
  t.same(keysOf(definitions, 2), [], 'a project without flags is known')
  t.equal(definitions.of(3), null)

  writeFileSync(file, readFileSync(file, 'utf8').replace('quoted', 'forged'))
  const forged = await openDefinitions(t, nowhere(t), file)
  t.equal(forged.of(1), null, 'a damaged copy is not believed')
})

t.test('writes its copy by itself, without being closed', async (t) => {
  const postgres = await openPostgresWithProjects(t)
  const file = join(t.testdir(), 'definitions.snapshot')
  await openDefinitions(t, postgres, file)
  await until(() => statSync(file, { throwIfNoEntry: false }) !== undefined)
  await addFlag(postgres, 1, 'later')
  await until(() => readFileSync(file, 'utf8').includes('"later"'))
})
