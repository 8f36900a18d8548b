// Writes the outbox and the tables beside it as the persons consumer does, through its own statements.

import type { Changes, StoreChange } from '../../src/identity/changes.ts'
import type { ChangesEnd } from '../../src/persons/persons-store.ts'
import { readProgress } from '../../src/persons/progress.ts'
import { saveChanges } from '../../src/persons/save.ts'
import type { Postgres } from '../../src/postgres/pool.ts'
import { uuidOf } from '../events/make-batch.ts'
import { noChanges } from '../persons/no-changes.ts'

const tables = [
  'person_override',
  'person_tombstone',
  'group_type',
  'store_change',
  'persons_progress',
] as const

/** Rows of the tables above, and the epoch at that time. */
export interface Backup {
  readonly epoch: string
  readonly rows: ReadonlyMap<string, string>
}

export class Outbox {
  readonly postgres: Postgres

  constructor(postgres: Postgres) {
    this.postgres = postgres
  }

  /** What the consumer does when it takes the store for the first time. */
  async begin(): Promise<void> {
    await readProgress(this.postgres, uuidOf(0xe))
  }

  /** Gives the id born to `born` to the person `person`. */
  move(born: number, person: number): Promise<void> {
    return this.#save([{ kind: 'override', projectId: 1, bornId: uuidOf(born), personUuid: uuidOf(person) }])
  }

  /** Moves so many ids, none of them below 4096. */
  moveMany(count: number): Promise<void> {
    return this.#save(
      Array.from({ length: count }, (_, i) => ({
        kind: 'override',
        projectId: 1 + (i % 2),
        bornId: uuidOf(4096 + i),
        personUuid: uuidOf(1),
      })),
    )
  }

  deletePerson(born: number): Promise<void> {
    const bornId = uuidOf(born)
    return this.#save([
      { kind: 'override', projectId: 1, bornId, personUuid: bornId },
      { kind: 'person_tombstone', projectId: 1, bornId, deletedAtMs: 1_714_564_800_000 },
    ])
  }

  nameType(name: string, index: number): Promise<void> {
    const type = { projectId: 1, name, index }
    return this.#save([{ kind: 'group_type', ...type }], [type])
  }

  async end(): Promise<ChangesEnd> {
    const { rows } = await this.postgres.query<ChangesEnd>(
      'select change_epoch as epoch, change_seq as seq from persons_progress',
    )
    return rows[0] ?? { epoch: '', seq: 0 }
  }

  async count(): Promise<number> {
    const { rows } = await this.postgres.query<{ count: number }>('select count(*) from store_change')
    return rows[0]?.count ?? 0
  }

  async backUp(): Promise<Backup> {
    const copies = new Map<string, string>()
    for (const table of tables) {
      const sql = `select coalesce(json_agg(to_json(${table}))::text, '[]') as copy from ${table}`
      copies.set(table, (await this.postgres.query<{ copy: string }>(sql)).rows[0]?.copy ?? '[]')
    }
    return { epoch: (await this.end()).epoch, rows: copies }
  }

  /** Puts everything back as it was. */
  async restore({ rows }: Backup): Promise<void> {
    await this.postgres.transaction(async (session) => {
      for (const table of tables) {
        await session.query(`delete from ${table}`)
        await session.query(
          `insert into ${table} select * from json_populate_recordset(null::${table}, $1::json)`,
          [rows.get(table)],
        )
      }
    })
  }

  async #save(storeChanges: StoreChange[], groupTypes: Changes['groupTypes'] = []): Promise<void> {
    await this.postgres.transaction((session) =>
      saveChanges(session, { ...noChanges, groupTypes, storeChanges }),
    )
  }
}
